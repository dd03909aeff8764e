package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// constant lowers a constant expression to a literal, converted to its type if the literal alone
// has another type. It returns nil if the expression should not change.
func (l *builder) constant(e ast.Expr, tv types.TypeAndValue) ast.Expr {
	basic := tv.Type.Underlying().(*types.Basic)
	switch e := e.(type) {
	case *ast.BasicLit:
		switch info := basic.Info(); {
		case e.Kind == token.IMAG:
			return l.typedConstant(e, tv)
		case info&types.IsString != 0, info&types.IsFloat != 0, info&types.IsInteger != 0 && e.Kind != token.FLOAT:
			// yaegi makes no exact integer of a literal with a decimal point or an exponent
			return e
		}
	case *ast.Ident:
		if obj := l.info.Uses[e]; obj == types.Universe.Lookup("true") || obj == types.Universe.Lookup("false") {
			return e
		}
	}
	return l.typedConstant(e, tv)
}

// typedConstant lowers a constant to a literal, converted to its type if the literal alone has
// another type.
func (l *builder) typedConstant(e ast.Expr, tv types.TypeAndValue) ast.Expr {
	t := types.Default(tv.Type)
	lit, kind := literal(e.Pos(), tv.Value, t.Underlying().(*types.Basic))
	if types.Identical(t, types.Typ[kind]) && kind != types.Complex128 { // yaegi has no untyped complex constants
		return lit
	}
	return l.conversion(t, lit)
}

// literal returns v as a literal, and the literal's default type.
func literal(pos token.Pos, v constant.Value, t *types.Basic) (ast.Expr, types.BasicKind) {
	lit := func(tok token.Token, s string) ast.Expr {
		if neg := strings.TrimPrefix(s, "-"); neg != s {
			return &ast.UnaryExpr{OpPos: pos, Op: token.SUB, X: &ast.BasicLit{ValuePos: pos, Kind: tok, Value: neg}}
		}
		return &ast.BasicLit{ValuePos: pos, Kind: tok, Value: s}
	}
	switch info := t.Info(); {
	case info&types.IsBoolean != 0:
		return &ast.Ident{NamePos: pos, Name: strconv.FormatBool(constant.BoolVal(v))}, types.Bool
	case info&types.IsString != 0:
		return lit(token.STRING, strconv.Quote(constant.StringVal(v))), types.String
	case info&types.IsInteger != 0:
		return lit(token.INT, constant.ToInt(v).ExactString()), types.Int
	case info&types.IsComplex != 0:
		c := constant.ToComplex(v)
		re, _ := literal(pos, constant.Real(c), types.Typ[types.Float64])
		im, _ := literal(pos, constant.Imag(c), types.Typ[types.Float64])
		return &ast.CallExpr{Fun: &ast.Ident{NamePos: pos, Name: "complex"}, Args: []ast.Expr{re, im}}, types.Complex128
	}
	f, _ := constant.Float64Val(v)
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return lit(token.FLOAT, s), types.Float64
}
