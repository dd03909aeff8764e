package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"

	"github.com/symmrepl/symmrepl/interp/run"
)

func (l *lowerer) ident(pos token.Pos, name string) *ast.Ident {
	return &ast.Ident{NamePos: pos, Name: name}
}

// temp makes a name for a local variable of our own.
func (l *lowerer) temp(what string) string {
	l.temps++
	return what + "#t" + strconv.Itoa(l.temps)
}

// pkgMember is a symbol of an imported package.
func (l *lowerer) pkgMember(pos token.Pos, path, name string) ast.Expr {
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
func (l *lowerer) helper(pos token.Pos, name run.Helper, args ...ast.Expr) *ast.CallExpr {
	return &ast.CallExpr{Fun: l.pkgMember(pos, run.RuntimePath, string(name)), Lparen: pos, Args: args, Rparen: pos}
}

func (l *lowerer) number(pos token.Pos, n int) ast.Expr {
	return &ast.BasicLit{ValuePos: pos, Kind: token.INT, Value: strconv.Itoa(n)}
}

func (l *lowerer) quoted(pos token.Pos, s string) ast.Expr {
	return &ast.BasicLit{ValuePos: pos, Kind: token.STRING, Value: strconv.Quote(s)}
}

func (l *lowerer) address(e ast.Expr) ast.Expr {
	return &ast.UnaryExpr{OpPos: e.Pos(), Op: token.AND, X: e}
}

func assign(tok token.Token, lhs, rhs ast.Expr) *ast.AssignStmt {
	return &ast.AssignStmt{Lhs: []ast.Expr{lhs}, TokPos: lhs.Pos(), Tok: tok, Rhs: []ast.Expr{rhs}}
}

// varDecl declares a local variable of ours.
func (l *lowerer) varDecl(pos token.Pos, name string, t types.Type) ast.Stmt {
	return &ast.DeclStmt{Decl: &ast.GenDecl{TokPos: pos, Tok: token.VAR, Specs: []ast.Spec{
		&ast.ValueSpec{Names: []*ast.Ident{l.ident(pos, name)}, Type: l.typeExpr(t, pos)},
	}}}
}
func block(pos token.Pos, list ...ast.Stmt) *ast.BlockStmt {
	return &ast.BlockStmt{Lbrace: pos, List: list, Rbrace: pos}
}
