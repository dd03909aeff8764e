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

// pointerTo returns a pointer to a new variable of type t with the value x: func(v T) *T { return
// &v }(x).
func (l *builder) pointerTo(x ast.Expr, t types.Type) ast.Expr {
	pos := x.Pos()
	v := l.temp("v")
	lit := &ast.FuncLit{
		Type: &ast.FuncType{Func: pos,
			Params:  &ast.FieldList{Opening: pos, List: []*ast.Field{{Names: []*ast.Ident{l.ident(pos, v)}, Type: l.typeExpr(t, pos)}}},
			Results: &ast.FieldList{Opening: pos, List: []*ast.Field{{Type: l.typeExpr(types.NewPointer(t), pos)}}},
		},
		Body: block(pos, &ast.ReturnStmt{Return: pos, Results: []ast.Expr{l.address(l.ident(pos, v))}}),
	}
	return &ast.CallExpr{Fun: lit, Lparen: pos, Args: []ast.Expr{x}, Rparen: pos}
}

func (l *builder) enterAs(pos token.Pos, name string, end token.Pos, top bool) ast.Stmt {
	isTop := l.ident(pos, strconv.FormatBool(top))
	return &ast.ExprStmt{X: l.helper(pos, contract.Enter, l.quoted(pos, name), l.number(pos, int(end)), isTop)}
}

// dropped evaluates a lowered value of type t for a blank field, and returns a zero value: func(v
// T) (zero T) { return zero }(x).
func (l *builder) dropped(x ast.Expr, t types.Type) ast.Expr {
	pos := x.Pos()
	v, zero := l.temp("v"), l.temp("zero")
	field := func(name string) *ast.FieldList {
		return &ast.FieldList{Opening: pos, List: []*ast.Field{{Names: []*ast.Ident{l.ident(pos, name)}, Type: l.typeExpr(t, pos)}}}
	}
	lit := &ast.FuncLit{
		Type: &ast.FuncType{Func: pos, Params: field(v), Results: field(zero)},
		Body: block(pos, &ast.ReturnStmt{Return: pos, Results: []ast.Expr{l.ident(pos, zero)}}),
	}
	return &ast.CallExpr{Fun: lit, Lparen: pos, Args: []ast.Expr{x}, Rparen: pos}
}

// dereference writes p[i], for a pointer p to an array, as (*p)[i]: yaegi cannot take the address
// of the former.
func (l *builder) dereference(e ast.Expr) {
	x, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok {
		return
	}
	if p, ok := l.info.TypeOf(x.X).Underlying().(*types.Pointer); ok {
		x.X = l.typed(&ast.ParenExpr{Lparen: x.Pos(), X: l.typed(&ast.StarExpr{Star: x.Pos(), X: x.X}, p.Elem()),
			Rparen: x.X.End()}, p.Elem())
	}
}

// assignEach assigns lowered values to variables, one after the other if there is a value for each.
func (l *builder) assignEach(lhs, rhs []ast.Expr) (out []ast.Stmt) {
	if len(lhs) != len(rhs) {
		return []ast.Stmt{&ast.AssignStmt{Lhs: lhs, TokPos: rhs[0].Pos(), Tok: token.ASSIGN, Rhs: rhs}}
	}
	for i, e := range rhs {
		out = append(out, assign(token.ASSIGN, lhs[i], l.paren(e))) // see protect
	}
	return out
}

// viaHelper calls a helper with pointers to a variable for the result and to a variable that holds
// x:
//
//	func(x X, n ...int64) R { var r R; helper(&r, &x, n...); return r }(x, n...)
func (l *builder) viaHelper(pos token.Pos, helper contract.Helper, x ast.Expr, from, result types.Type, n ...ast.Expr) ast.Expr {
	v, r := l.temp("v"), l.temp("r")
	params := []*ast.Field{{Names: []*ast.Ident{l.ident(pos, v)}, Type: l.typeExpr(from, pos)}}
	args := []ast.Expr{l.address(l.ident(pos, r)), l.address(l.ident(pos, v))}
	for range n {
		count := l.temp("n")
		params = append(params, &ast.Field{Names: []*ast.Ident{l.ident(pos, count)}, Type: l.ident(pos, "int64")})
		args = append(args, l.ident(pos, count))
	}
	lit := &ast.FuncLit{
		Type: &ast.FuncType{Func: pos,
			Params:  &ast.FieldList{Opening: pos, List: params},
			Results: &ast.FieldList{Opening: pos, List: []*ast.Field{{Type: l.typeExpr(result, pos)}}},
		},
		Body: block(pos, l.varDecl(pos, r, result), &ast.ExprStmt{X: l.helper(pos, helper, args...)},
			&ast.ReturnStmt{Return: pos, Results: []ast.Expr{l.ident(pos, r)}}),
	}
	return &ast.CallExpr{Fun: lit, Lparen: pos, Args: append([]ast.Expr{x}, n...), Rparen: pos}
}
