package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/lower/typed"
)

// hasLength reports whether the elements of x are counted from 0: x is a slice, an array, a pointer
// to an array, or a string.
func (l *facts) hasLength(x ast.Expr) bool {
	t := l.info.TypeOf(x)
	if t == nil {
		return false
	}
	switch t := t.Underlying().(type) {
	case *types.Array, *types.Slice:
		return true
	case *types.Pointer:
		return typed.IsArray(t.Elem())
	case *types.Basic:
		return t.Info()&types.IsString != 0
	}
	return false
}

// isLiteral reports whether e is a composite literal, or the address of one.
func isLiteral(e ast.Expr) bool {
	e = ast.Unparen(e)
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = ast.Unparen(u.X)
	}
	_, ok := e.(*ast.CompositeLit)
	return ok
}

func (l *facts) isTuple(e ast.Expr) bool {
	_, ok := l.info.TypeOf(e).(*types.Tuple)
	return ok
}

// isPlain reports whether e contains no calls and no receive operations.
func (l *facts) isPlain(e ast.Expr) bool {
	plain := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			plain = plain && l.info.Types[n.Fun].IsType()
		case *ast.UnaryExpr:
			plain = plain && n.Op != token.ARROW
		}
		return plain
	})
	return plain
}

func (l *facts) lhsType(e ast.Expr) types.Type {
	if t := l.info.TypeOf(e); t != nil {
		return t
	}
	return types.Typ[types.Invalid] // the blank identifier
}

// isReceive reports whether e is a receive operation.
func isReceive(e ast.Expr) bool {
	u, ok := ast.Unparen(e).(*ast.UnaryExpr)
	return ok && u.Op == token.ARROW
}

func isShift(tok token.Token) bool {
	return tok == token.SHL || tok == token.SHR || tok == token.SHL_ASSIGN || tok == token.SHR_ASSIGN
}
