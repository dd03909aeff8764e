package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// show lowers the cell's last expression. The runtime gets pointers to its values, so that it sees
// them as they are stored.
func (l *lowerer) show(e ast.Expr) []ast.Stmt {
	pos := e.Pos()
	if len(l.c.Values) == 1 && types.Identical(l.c.Values[0], types.Typ[types.UntypedNil]) {
		if l.c.Quiet {
			return nil
		}
		return []ast.Stmt{&ast.ExprStmt{X: l.helper(pos, contract.Show)}}
	}
	s := &ast.ExprStmt{X: e}
	out := l.callsFirst(s)
	e = s.X
	out = append(out, l.mark(e)...)
	var lhs []ast.Expr
	for _, t := range l.c.Values {
		v := l.temp("value")
		out = append(out, l.varDecl(pos, v, t))
		lhs = append(lhs, l.ident(pos, v))
	}
	set := &ast.AssignStmt{Lhs: lhs, TokPos: pos, Tok: token.ASSIGN, Rhs: []ast.Expr{e}}
	out = append(out, l.received(set)...)
	l.protect(set)
	l.exprs(set.Rhs)
	return append(append(out, set), l.showVars(pos, lhs)...)
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

// describing returns the method of a session's type that describes its values: Error, String or "".
func (l *namer) describing(t types.Type) string {
	if types.IsInterface(t) || l.identity(t) == "" {
		return ""
	}
	for _, name := range []string{"Error", "String"} {
		obj, _, _ := types.LookupFieldOrMethod(t, false, l.checker.Package(), name)
		fn, ok := obj.(*types.Func)
		if !ok || fn.Signature().Params().Len() > 0 || fn.Signature().Results().Len() != 1 {
			continue
		}
		if types.Identical(fn.Signature().Results().At(0).Type(), types.Typ[types.String]) {
			return name
		}
	}
	return ""
}

// renders reports whether a value of type t may have display forms: t has the method for that, or
// is an interface type whose values may.
func (l *facts) renders(t types.Type) bool {
	if types.IsInterface(t) {
		return true
	}
	if named, ok := types.Unalias(t).(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == check.DisplayPath {
		return true
	}
	methods := types.NewMethodSet(t)
	for _, name := range []string{
		"Render", "SimpleRender", "HTML", "JavaScript", "JPEG", "JSON", "Latex", "Markdown", "PDF", "PNG", "SVG", "ColorModel", "WriterTo",
	} {
		if methods.Lookup(l.checker.Package(), name) != nil {
			return true
		}
	}
	return false
}

// showList lowers an expression list that the cell shows.
func (l *lowerer) showList(list []ast.Expr) []ast.Stmt {
	out := l.mark(&ast.AssignStmt{Rhs: list})
	var vars []ast.Expr
	for i, e := range list {
		vars = append(vars, l.hold(e, l.c.Values[i], &out))
	}
	return append(out, l.showVars(list[0].Pos(), vars)...)
}
