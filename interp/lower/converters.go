package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// A value of a type of cells that is converted to an interface of compiled code (any included)
// becomes a native value (see package run). A function converts it:
//
//	func convert(v T) (i I) { runtime.Native(&i, &v, "T"); return i }
//
// Yaegi itself implements interfaces of cells that have methods. Such an interface does not hold a
// copy of a value: it refers to the variable that held the value, or to a place in a frame that the
// next iteration of a loop reuses. The following function has its own frame:
//
//	func convert(v T) (i I) { i = v; runtime.Hold(&i, &v); return i }

// converted converts the lowered expression low as convert does.
func (l *declarer) converted(low ast.Expr, from, to types.Type) ast.Expr {
	if from == nil || to == nil || !l.converts(from, to) {
		return low
	}
	pos := low.Pos()
	if t := l.bearer(from, to, pos); t != nil {
		low, from = l.conversion(t, low), t
	}
	return &ast.CallExpr{Fun: l.converter(from, to, pos), Lparen: pos, Args: []ast.Expr{low}, Rparen: pos}
}

// converter returns the function that converts from to to. The first cell that needs the function
// declares it.
func (l *declarer) converter(from, to types.Type, pos token.Pos) ast.Expr {
	key := l.typeText(from) + "\x00" + l.typeText(to)
	name := l.program.converters[key].name
	if name == "" {
		name = l.converters[key].name
	}
	if name != "" {
		return l.ident(pos, name)
	}
	name = l.program.newName("convert")
	l.converters[key] = converter{name, from, to, l.isBoxed(to)}
	v, i := "v#", "i#"
	body := []ast.Stmt{l.varDecl(pos, i, to)}
	args := []ast.Expr{l.address(l.ident(pos, i)), l.address(l.ident(pos, v))}
	switch {
	case l.isBoxed(to):
		l.valueKey(from)
		body = append(body, assign(token.ASSIGN, l.ident(pos, i), l.ident(pos, v)))
		if _, isStruct := from.Underlying().(*types.Struct); isStruct {
			body = append(body, &ast.ExprStmt{X: l.helper(pos, contract.Hold, args...)})
		}
	case types.IsInterface(from):
		body = append(body, &ast.ExprStmt{X: l.helper(pos, contract.Unbox, args...)})
	default:
		body = append(body, &ast.ExprStmt{X: l.helper(pos, contract.Native, append(args, l.quoted(pos, l.valueKey(from)))...)})
	}
	l.declarations = append(l.declarations, &ast.FuncDecl{
		Name: l.ident(pos, name),
		Type: &ast.FuncType{Func: pos,
			Params:  &ast.FieldList{Opening: pos, List: []*ast.Field{{Names: []*ast.Ident{l.ident(pos, v)}, Type: l.typeExpr(from, pos)}}},
			Results: &ast.FieldList{Opening: pos, List: []*ast.Field{{Type: l.typeExpr(to, pos)}}},
		},
		Body: block(pos, append(body, &ast.ReturnStmt{Return: pos, Results: []ast.Expr{l.ident(pos, i)}})...),
	})
	return l.ident(pos, name)
}
