package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// builder makes syntax: names, types, calls of helpers. It records the helpers and imports that the
// lowered cell needs for them.
type builder struct {
	namer
	imports map[string]bool       // packages that the lowered code uses, by path
	hidden  contract.Exports      // symbols for types that have no name in the tables
	noted   map[string]types.Type // types that the runtime has to know, by key
	temps   int
	// whether something may be declared under a predeclared name
	predeclared bool
}

// note adds a type to those that the runtime has to know.
func (l *builder) note(key string, t types.Type) { l.noted[key] = t }

// valueKey returns the key by which the runtime knows the native type of t. It returns "" if values
// of yaegi's type are already native values.
func (l *builder) valueKey(t types.Type) string {
	if t == nil || !l.ofCells(t) {
		return ""
	}
	key := l.typeText(t)
	l.note(key, types.Unalias(t))
	return key
}

func (l *builder) ident(pos token.Pos, name string) *ast.Ident {
	return &ast.Ident{NamePos: pos, Name: name}
}

// temp returns a new name for a local variable of lowered code.
func (l *builder) temp(what string) string {
	l.temps++
	return what + "#t" + strconv.Itoa(l.temps)
}

// pkgMember returns a symbol of an imported package.
func (l *builder) pkgMember(pos token.Pos, path, name string) ast.Expr {
	l.imports[path] = true
	return &ast.SelectorExpr{X: l.ident(pos, ImportName(path)), Sel: l.ident(pos, name)}
}

// ImportName returns the name of a package in lowered code, whatever name cells use.
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

// helper returns a call of a helper of the runtime.
func (l *builder) helper(pos token.Pos, name contract.Helper, args ...ast.Expr) *ast.CallExpr {
	return &ast.CallExpr{Fun: l.pkgMember(pos, contract.RuntimePath, string(name)), Lparen: pos, Args: args, Rparen: pos}
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

// typed records the type of an expression that lowering made.
func (l *builder) typed(e ast.Expr, t types.Type) ast.Expr {
	l.info.Types[e] = types.TypeAndValue{Type: t}
	return e
}

// closure returns func() { body }.
func (l *builder) closure(pos token.Pos, body ...ast.Stmt) *ast.FuncLit {
	return &ast.FuncLit{
		Type: &ast.FuncType{Func: pos, Params: &ast.FieldList{Opening: pos}},
		Body: &ast.BlockStmt{Lbrace: pos, List: body, Rbrace: pos},
	}
}

// withLabel puts the label of a lowered statement back on it.
func withLabel(label *ast.LabeledStmt, s ast.Stmt) ast.Stmt {
	if label == nil {
		return s
	}
	label.Stmt = s
	return label
}

// bind returns the statement that tells the runtime where yaegi keeps a variable.
func (l *builder) bind(at token.Pos, name string) ast.Stmt {
	return &ast.ExprStmt{X: l.helper(at, contract.Bind, l.quoted(at, name), l.address(l.ident(at, name)))}
}

// init returns an init function with the given statements, which runs when its file is executed.
func (l *builder) init(body []ast.Stmt) *ast.FuncDecl {
	at := l.c.Body.Pos()
	return &ast.FuncDecl{Name: l.ident(at, "init"), Type: &ast.FuncType{Func: at, Params: &ast.FieldList{Opening: at}},
		Body: block(at, body...)}
}

// fromBracket makes an operation begin at its bracket if something separates the bracket from the
// operand, because runtime errors of the operation have the bracket's position.
func (l *builder) fromBracket(x ast.Expr, bracket token.Pos) ast.Expr {
	if !isApart(x, bracket) {
		return x
	}
	paren := &ast.ParenExpr{Lparen: bracket, X: x, Rparen: bracket}
	l.info.Types[paren] = l.info.Types[x]
	return paren
}
