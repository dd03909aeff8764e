package check

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// DeclaresVariables reports whether a declaration in a function declares variables.
func DeclaresVariables(s *ast.DeclStmt) bool {
	d, ok := s.Decl.(*ast.GenDecl)
	return ok && d.Tok == token.VAR && len(d.Specs) > 0
}

// StatementLines returns the lines of a cell's text on which its statements and the statements of
// its functions begin, ascending; the first line is 1. It returns none for a text that does not
// parse.
func StatementLines(source string) (lines []int) {
	items, errs := Split(source)
	if errs != nil {
		return nil
	}
	fset := token.NewFileSet()
	note := func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.BlockStmt, *ast.EmptyStmt, *ast.LabeledStmt, *ast.CaseClause, *ast.CommClause:
		case *ast.DeclStmt:
			if DeclaresVariables(s) {
				lines = append(lines, fset.Position(s.Pos()).Line)
			}
		case ast.Stmt:
			lines = append(lines, fset.Position(s.Pos()).Line)
		}
		return true
	}
	for _, half := range []struct {
		header, end string
		decls       bool
	}{{declsHeader, "", true}, {stmtsHeader, "\n}", false}} {
		file, _ := parser.ParseFile(fset, "", half.header+blank(source, items, half.decls)+half.end, parser.SkipObjectResolution)
		if file != nil {
			ast.Inspect(file, note)
		}
	}
	if n := len(items) - 1; n >= 0 && items[n].list { // which is no statement of Go
		lines = append(lines, 1+strings.Count(source[:items[n].Start], "\n"))
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}
