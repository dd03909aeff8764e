package lower

import "go/ast"

// gotoSuffix ends the names of labels that are targets of goto. Such a label precedes all
// statements that a labelled statement is lowered to. The original label remains on the loop,
// switch or select, for break and continue.
const gotoSuffix = "#goto"

// labeled lowers a statement with a label.
func (l *lowerer) labeled(s *ast.LabeledStmt) []ast.Stmt {
	var target []ast.Stmt
	if l.fn.gotos[s.Label.Name] {
		mark := l.markAt(s.Pos())
		target = []ast.Stmt{&ast.LabeledStmt{Label: l.ident(s.Pos(), s.Label.Name+gotoSuffix), Colon: s.Pos(), Stmt: mark[0]}}
	}
	return append(target, l.underLabel(s)...)
}

// underLabel lowers the statement that has the label.
func (l *lowerer) underLabel(s *ast.LabeledStmt) []ast.Stmt {
	switch inner := s.Stmt.(type) {
	case *ast.ForStmt:
		return l.forStmt(inner, s)
	case *ast.RangeStmt:
		return l.rangeStmt(inner, s)
	case *ast.SwitchStmt:
		return l.switchStmt(inner, s)
	case *ast.SelectStmt:
		return l.selectStmt(inner, s)
	case *ast.TypeSwitchStmt:
		return l.typeSwitch(inner, s)
	}
	return l.stmt(s.Stmt)
}
