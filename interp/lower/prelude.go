package lower

import (
	"go/ast"
	"go/token"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// Prelude returns a file that declares the variables shared by lowered code and the runtime, and
// binds them when it is executed. It uses the package of the helpers.
func (p *Program) Prelude() (at token.Pos, decls []ast.Decl) {
	at = token.Pos(p.checker.Files().Base())
	p.checker.Files().AddFile(check.FileName, int(at), 1)
	l := p.newLowerer(&check.Cell{Syntax: &check.Syntax{Body: &ast.FuncDecl{Name: &ast.Ident{NamePos: at}, Type: &ast.FuncType{Func: at}}}})
	method := &ast.Field{Names: []*ast.Ident{l.ident(at, "M")}, Type: &ast.FuncType{Func: at, Params: &ast.FieldList{Opening: at}}}
	var binds []ast.Stmt
	for name, typ := range map[string]ast.Expr{
		contract.MarkVar: l.ident(at, "int"), contract.CallVar: l.ident(at, "int"), contract.PanickingVar: l.ident(at, "int"),
		contract.BoxVar: &ast.InterfaceType{Interface: at, Methods: &ast.FieldList{Opening: at, List: []*ast.Field{method}}},
	} {
		decls = append(decls, &ast.GenDecl{TokPos: at, Tok: token.VAR,
			Specs: []ast.Spec{&ast.ValueSpec{Names: []*ast.Ident{l.ident(at, name)}, Type: typ}}})
		binds = append(binds, l.bind(at, name))
	}
	return at, append(decls, l.init(binds))
}
