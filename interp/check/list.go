package check

import (
	"go/ast"
	"go/scanner"
	"go/token"
)

// A cell may end with a list of expressions, such as
//
//	v, ok
//
// which is not a statement of Go: the values are shown. The list is parsed as the arguments of a
// call and checked as an assignment of all values to the blank identifier.

const listHeader = "package main;func main(){list("

// parseList parses the last item of a cell, a list, and adds it to the statements as an assignment.
func (p *Syntax) parseList(fset *token.FileSet, src string, items []Item) scanner.ErrorList {
	last := items[len(items)-1]
	f, errs := p.parseFile(fset, listHeader, blank(src[:last.End], []Item{last}, false), ")}")
	if errs != nil {
		return errs
	}
	p.List = f.Decls[0].(*ast.FuncDecl).Body.List[0].(*ast.ExprStmt).X.(*ast.CallExpr).Args
	all := &ast.AssignStmt{TokPos: p.List[0].Pos(), Tok: token.ASSIGN, Rhs: p.List}
	for _, e := range p.List {
		all.Lhs = append(all.Lhs, &ast.Ident{NamePos: e.Pos(), Name: "_"})
	}
	p.Body.Body.List = append(p.Body.Body.List, all)
	return nil
}
