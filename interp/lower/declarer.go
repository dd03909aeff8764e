package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// declarer makes declarations for yaegi that are not in the cell: functions that convert values to
// interfaces, types for unnamed structs, additional methods of declared types, and statements that
// register methods for compiled code.
type declarer struct {
	builder
	types      map[*ast.TypeSpec]types.Object
	recursive  []contract.Recursive // types that the cell declares
	locals     []*types.TypeName    // types that functions declare
	localSpecs []ast.Spec           // their declarations
	// named types that stand for unnamed struct types, by their text
	bearers    map[string]*types.Named
	converters map[string]converter  // functions that convert to interfaces, by the two types
	asserted   map[string]types.Type // interface types of cells that this cell asserts to, by key
	// pairs of a type and such an interface that this cell registers with the runtime
	implementing  map[string]bool
	declarations  []*ast.FuncDecl // of the functions above
	registrations []ast.Stmt      // statements that register methods for compiled code
}

// equalCall compares lowered operands of types x and y, at least one of which is an interface type.
func (l *declarer) equalCall(pos token.Pos, a, b ast.Expr, x, y types.Type) ast.Expr {
	switch {
	case !types.IsInterface(x):
		return l.helper(pos, contract.Holds, l.address(b), l.converted(a, x, types.NewInterfaceType(nil, nil)))
	case !types.IsInterface(y):
		return l.helper(pos, contract.Holds, l.address(a), l.converted(b, y, types.NewInterfaceType(nil, nil)))
	}
	return l.helper(pos, contract.Equal, l.address(a), l.address(b))
}

// showVars returns statements that show the values in variables. A quiet cell shows none.
func (l *declarer) showVars(pos token.Pos, vars []ast.Expr) []ast.Stmt {
	if l.c.Quiet {
		return nil
	}
	var args []ast.Expr
	for _, v := range vars {
		args = append(args, l.address(v))
	}
	out := []ast.Stmt{&ast.ExprStmt{X: l.helper(pos, contract.Show, args...)}}
	for i, t := range l.c.Values {
		if method := l.describing(t); method != "" {
			call := &ast.CallExpr{Fun: &ast.SelectorExpr{X: vars[i], Sel: l.ident(pos, method)}, Lparen: pos, Rparen: pos}
			text := l.closure(pos, &ast.ReturnStmt{Return: pos, Results: []ast.Expr{call}})
			text.Type.Results = &ast.FieldList{Opening: pos, List: []*ast.Field{{Type: l.ident(pos, "string")}}}
			index := &ast.BasicLit{ValuePos: pos, Kind: token.INT, Value: strconv.Itoa(i)}
			out = append(out, &ast.ExprStmt{X: l.helper(pos, contract.Describe, index, text)})
		}
	}
	if slices.ContainsFunc(l.c.Values, l.renders) {
		var values []ast.Expr
		for i, v := range vars {
			values = append(values, l.converted(v, l.c.Values[i], types.NewInterfaceType(nil, nil)))
		}
		out = append(out, &ast.ExprStmt{X: l.helper(pos, contract.Render, values...)})
	}
	return out
}
