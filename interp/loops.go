package interp

import (
	"go/ast"
	"go/token"
	"go/types"
)

func (l *lowerer) forStmt(s *ast.ForStmt, label *ast.LabeledStmt) []ast.Stmt {
	m := l.mark(s.Init, s.Cond, s.Post)
	if s.Init != nil {
		s.Init = l.simple(s.Init)
	}
	s.Cond = l.condition(s.Cond)
	if s.Post != nil {
		s.Post = l.simple(s.Post)
	}
	l.block(s.Body)
	return append(m, withLabel(label, s))
}

// withLabel puts a statement's label back.
func withLabel(label *ast.LabeledStmt, s ast.Stmt) ast.Stmt {
	if label == nil {
		return s
	}
	label.Stmt = s
	return label
}

func (l *lowerer) rangeStmt(s *ast.RangeStmt, label *ast.LabeledStmt) []ast.Stmt {
	m := l.mark(s.X)
	if isInteger(l.info.TypeOf(s.X)) {
		return append(m, l.rangeInt(s, label)...)
	}
	if _, ok := l.info.TypeOf(s.X).Underlying().(*types.Signature); ok {
		l.refuse(s.Pos(), "range over a function; call it with a function literal")
	}
	s.X = l.expr(s.X)
	s.Key, s.Value = l.expr(s.Key), l.expr(s.Value)
	l.block(s.Body)
	return append(m, withLabel(label, s))
}

// rangeInt lowers `for i := range n`.
func (l *lowerer) rangeInt(s *ast.RangeStmt, label *ast.LabeledStmt) []ast.Stmt {
	pos := s.Pos()
	t := types.Default(l.info.TypeOf(s.X))
	if s.Key != nil {
		t = l.info.TypeOf(s.Key)
	}
	n, i := l.temp("n"), l.temp("i")
	out := []ast.Stmt{l.varDecl(pos, n, t), assign(token.ASSIGN, l.ident(pos, n), l.expr(s.X))}
	zero := &ast.CallExpr{Fun: l.typeExpr(t, pos), Args: []ast.Expr{&ast.BasicLit{ValuePos: pos, Kind: token.INT, Value: "0"}}}
	body := l.block(s.Body)
	if id, ok := s.Key.(*ast.Ident); s.Key != nil && !(ok && id.Name == "_") {
		body.List = append([]ast.Stmt{assign(s.Tok, l.expr(s.Key), l.ident(pos, i))}, body.List...)
	}
	loop := &ast.ForStmt{
		For:  pos,
		Init: assign(token.DEFINE, l.ident(pos, i), zero),
		Cond: &ast.BinaryExpr{X: l.ident(pos, i), OpPos: pos, Op: token.LSS, Y: l.ident(pos, n)},
		Post: &ast.IncDecStmt{X: l.ident(pos, i), TokPos: pos, Tok: token.INC},
		Body: body,
	}
	return append(out, withLabel(label, loop))
}
