package interp

import (
	"go/ast"
	"go/token"
)

// Prelude is the file of the variables of our own that lowered code and the runtime share, each of which is bound when the file is executed. Its declarations
// import the runtime under its path only.
func (p *Program) Prelude() (at token.Pos, decls []ast.Decl) {
	at = token.Pos(p.checker.Files().Base())
	p.checker.Files().AddFile(fileName, int(at), 1)
	l := p.newLowerer(&checked{parsed: &parsed{body: &ast.FuncDecl{Name: &ast.Ident{NamePos: at}, Type: &ast.FuncType{Func: at}}}})
	method := &ast.Field{Names: []*ast.Ident{l.ident(at, "M")}, Type: &ast.FuncType{Func: at, Params: &ast.FieldList{Opening: at}}}
	var binds []ast.Stmt
	for name, typ := range map[string]ast.Expr{
		markName: l.ident(at, "int"), callName: l.ident(at, "int"), panickingName: l.ident(at, "int"),
		boxName: &ast.InterfaceType{Interface: at, Methods: &ast.FieldList{Opening: at, List: []*ast.Field{method}}},
	} {
		decls = append(decls, &ast.GenDecl{TokPos: at, Tok: token.VAR, Specs: []ast.Spec{&ast.ValueSpec{Names: []*ast.Ident{l.ident(at, name)}, Type: typ}}})
		binds = append(binds, l.bind(at, name))
	}
	return at, append(decls, l.init(binds))
}
