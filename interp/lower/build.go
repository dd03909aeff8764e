package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"

	"github.com/symmrepl/symmrepl/interp/run"
)

func (l *builder) ident(pos token.Pos, name string) *ast.Ident {
	return &ast.Ident{NamePos: pos, Name: name}
}

// temp makes a name for a local variable of our own.
func (l *builder) temp(what string) string {
	l.temps++
	return what + "#t" + strconv.Itoa(l.temps)
}

// pkgMember returns a symbol of an imported package.
func (l *builder) pkgMember(pos token.Pos, path, name string) ast.Expr {
	l.imports[path] = true
	return &ast.SelectorExpr{X: l.ident(pos, ImportName(path)), Sel: l.ident(pos, name)}
}

// ImportName is what a package is called in lowered code, whatever cells call it.
func ImportName(path string) string { return "import#" + path2ident(path) }

func path2ident(path string) string {
	b := []byte(path)
	for i, ch := range b {
		if ch == '/' {
			b[i] = '|'
		}
	}
	return string(b)
}

// helper calls a function of the runtime.
func (l *builder) helper(pos token.Pos, name run.Helper, args ...ast.Expr) *ast.CallExpr {
	return &ast.CallExpr{Fun: l.pkgMember(pos, run.RuntimePath, string(name)), Lparen: pos, Args: args, Rparen: pos}
}

func (l *builder) number(pos token.Pos, n int) ast.Expr {
	return &ast.BasicLit{ValuePos: pos, Kind: token.INT, Value: strconv.Itoa(n)}
}

func (l *builder) quoted(pos token.Pos, s string) ast.Expr {
	return &ast.BasicLit{ValuePos: pos, Kind: token.STRING, Value: strconv.Quote(s)}
}

func (l *builder) address(e ast.Expr) ast.Expr {
	return &ast.UnaryExpr{OpPos: e.Pos(), Op: token.AND, X: e}
}

func assign(tok token.Token, lhs, rhs ast.Expr) *ast.AssignStmt {
	return &ast.AssignStmt{Lhs: []ast.Expr{lhs}, TokPos: lhs.Pos(), Tok: tok, Rhs: []ast.Expr{rhs}}
}

// varDecl declares a local variable of ours.
func (l *builder) varDecl(pos token.Pos, name string, t types.Type) ast.Stmt {
	return &ast.DeclStmt{Decl: &ast.GenDecl{TokPos: pos, Tok: token.VAR, Specs: []ast.Spec{
		&ast.ValueSpec{Names: []*ast.Ident{l.ident(pos, name)}, Type: l.typeExpr(t, pos)},
	}}}
}

func block(pos token.Pos, list ...ast.Stmt) *ast.BlockStmt {
	return &ast.BlockStmt{Lbrace: pos, List: list, Rbrace: pos}
}

func (l *builder) paren(e ast.Expr) ast.Expr {
	p := &ast.ParenExpr{Lparen: e.Pos(), X: e, Rparen: e.End()}
	if tv, ok := l.info.Types[e]; ok {
		l.info.Types[p] = tv
	}
	return p
}

// conversion is T(e) for a lowered expression.
func (l *builder) conversion(t types.Type, e ast.Expr) ast.Expr {
	return &ast.CallExpr{Fun: l.typeExpr(t, e.Pos()), Lparen: e.Pos(), Args: []ast.Expr{e}, Rparen: e.End()}
}

// typed notes the type of an expression of ours.
func (l *builder) typed(e ast.Expr, t types.Type) ast.Expr {
	l.info.Types[e] = types.TypeAndValue{Type: t}
	return e
}

// closure is func() { body }.
func (l *builder) closure(pos token.Pos, body ...ast.Stmt) *ast.FuncLit {
	return &ast.FuncLit{
		Type: &ast.FuncType{Func: pos, Params: &ast.FieldList{Opening: pos}},
		Body: &ast.BlockStmt{Lbrace: pos, List: body, Rbrace: pos},
	}
}

// withLabel puts a statement's label back.
func withLabel(label *ast.LabeledStmt, s ast.Stmt) ast.Stmt {
	if label == nil {
		return s
	}
	label.Stmt = s
	return label
}

// hold evaluates e, as a value of type t, into a variable.
func (l *lowerer) hold(e ast.Expr, t types.Type, out *[]ast.Stmt) ast.Expr {
	v := l.temp("v")
	*out = append(*out, l.declare(v, t, e)...)
	return l.ident(e.Pos(), v)
}

// declare declares a variable of ours, of type t, with the value of e. It has an address, also if the value is received: see received.
func (l *lowerer) declare(v string, t types.Type, e ast.Expr) []ast.Stmt {
	pos := e.Pos()
	out := []ast.Stmt{l.varDecl(pos, v, t)}
	if isReceive(e) {
		u := ast.Unparen(e).(*ast.UnaryExpr)
		from, name := l.info.TypeOf(e), l.temp("received")
		u.X = l.expr(u.X)
		return append(out, assign(token.DEFINE, l.ident(pos, name), u), assign(token.ASSIGN, l.ident(pos, v), l.converted(l.ident(pos, name), from, t)))
	}
	return append(out, assign(token.ASSIGN, l.ident(pos, v), l.convert(e, t)))
}

// init is a function with statements that runs when its file is executed.
func (l *builder) init(body []ast.Stmt) *ast.FuncDecl {
	at := l.c.Body.Pos()
	return &ast.FuncDecl{Name: l.ident(at, "init"), Type: &ast.FuncType{Func: at, Params: &ast.FieldList{Opening: at}}, Body: block(at, body...)}
}

// bind returns the statement that tells the runtime where yaegi keeps the variable of a name.
func (l *builder) bind(at token.Pos, name string) ast.Stmt {
	return &ast.ExprStmt{X: l.helper(at, run.Bind, l.quoted(at, name), l.address(l.ident(at, name)))}
}
