package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/lower/typed"
)

// convert lowers e and converts it to type to, if yaegi would do that wrongly or not at all.
func (l *lowerer) convert(e ast.Expr, to types.Type) ast.Expr {
	from := l.info.TypeOf(e)
	if to != nil && (typed.IsUnsafe(to) || l.isRecursive(to)) && l.info.Types[e].IsNil() {
		return l.zeroValue(e.Pos(), to)
	}
	low := l.expr(e)
	if l.needsConversion(from, to) {
		return &ast.CallExpr{Fun: l.paren(l.typeExpr(to, e.Pos())), Lparen: e.Pos(), Args: []ast.Expr{low}, Rparen: e.End()}
	}
	if lit, ok := ast.Unparen(low).(*ast.CompositeLit); ok && lit.Type == nil { // an element of a literal
		return low
	}
	if to != nil && types.IsInterface(to) {
		switch low.(type) {
		// yaegi would store intermediate results in the interface
		case *ast.BinaryExpr, *ast.UnaryExpr:
			low = l.paren(low)
		}
	}
	return l.converted(low, from, to)
}

// spreadTuple evaluates a call with several results into variables.
func (l *lowerer) spreadTuple(call ast.Expr) (out []ast.Stmt, vars []ast.Expr) {
	pos := call.Pos()
	out = l.mark(call)
	set := &ast.AssignStmt{TokPos: pos, Tok: token.ASSIGN, Rhs: []ast.Expr{l.expr(call)}}
	for v := range l.info.TypeOf(call).(*types.Tuple).Variables() {
		id := l.ident(pos, l.temp("v"))
		out = append(out, l.varDecl(pos, id.Name, v.Type()))
		set.Lhs = append(set.Lhs, l.ident(pos, id.Name))
		vars = append(vars, l.typed(id, v.Type()))
	}
	return append(out, set), vars
}

// hold evaluates e, as a value of type t, into a new variable.
func (l *lowerer) hold(e ast.Expr, t types.Type, out *[]ast.Stmt) ast.Expr {
	v := l.temp("v")
	*out = append(*out, l.declare(v, t, e)...)
	return l.ident(e.Pos(), v)
}

// declare declares a temporary variable of type t with the value of e. The variable has an address,
// even if the value is received: see received.
func (l *lowerer) declare(v string, t types.Type, e ast.Expr) []ast.Stmt {
	pos := e.Pos()
	out := []ast.Stmt{l.varDecl(pos, v, t)}
	if isReceive(e) {
		u := ast.Unparen(e).(*ast.UnaryExpr)
		from, name := l.info.TypeOf(e), l.temp("received")
		u.X = l.expr(u.X)
		return append(out, assign(token.DEFINE, l.ident(pos, name), u),
			assign(token.ASSIGN, l.ident(pos, v), l.converted(l.ident(pos, name), from, t)))
	}
	return append(out, assign(token.ASSIGN, l.ident(pos, v), l.convert(e, t)))
}
