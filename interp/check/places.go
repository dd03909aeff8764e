package check

import (
	"go/ast"
	"go/parser"
	"go/token"
)

// VarDecl is a declaration of variables at a cell's top level, as offsets in the source.
type VarDecl struct {
	Start, End     int
	Lparen, Rparen int // -1 without parentheses
}

// Outside returns the ranges of imports, functions, types and constants in the source.
func (p *Syntax) Outside() (outside [][2]int) {
	items, _ := Split(p.cell.Source) // Parse has split it without an error
	for _, it := range items {
		if it.Decl {
			outside = append(outside, [2]int{it.Start, it.End})
		}
	}
	return outside
}

// VarDecls returns the offsets in the source of variable declarations. The cell's statements have
// one declaration for each specification.
func (p *Syntax) VarDecls() (list []VarDecl) {
	source := p.cell.Source
	items, _ := Split(source)
	if n := len(items) - 1; n >= 0 && items[n].list {
		items = items[:n]
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, FileName, stmtsHeader+blank(source, items, false)+"\n}", parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	offset := func(pos token.Pos) int {
		if !pos.IsValid() {
			return -1
		}
		return fset.PositionFor(pos, false).Offset - len(stmtsHeader)
	}
	for _, s := range f.Decls[0].(*ast.FuncDecl).Body.List {
		for l, ok := s.(*ast.LabeledStmt); ok; l, ok = s.(*ast.LabeledStmt) {
			s = l.Stmt
		}
		if isVarDecl(s) {
			d := s.(*ast.DeclStmt).Decl.(*ast.GenDecl)
			list = append(list, VarDecl{offset(d.Pos()), offset(d.End()), offset(d.Lparen), offset(d.Rparen)})
		}
	}
	return list
}
