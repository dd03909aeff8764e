package lower

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/session"
)

// cell lowers the whole cell.
func (l *lowerer) cell(d *definitions) (out *Cell, err *session.Error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case refusal:
			err = l.c.TextOf(r.pos).ErrorAt(session.KindUnsupported, r.pos, r.msg)
		default:
			panic(r)
		}
	}()
	stacks, codes := l.asks()
	l.program.stacks, l.program.codes = l.program.stacks || stacks, l.program.codes || codes
	var low lowered
	l.declaredByCell(&low)
	low.body = append(l.topLevel(), l.callInits()...)
	for _, v := range l.c.Vars {
		l.typeExpr(v.Type(), v.Pos()) // records the instances in it
	}
	l.lowerPending(&low)
	for _, m := range l.c.AddedMethods {
		l.registerAdded(m.Method)
	}
	l.registerImplementations()
	low.funcs = append(low.funcs, l.declarations...)
	out = &Cell{Hidden: l.hidden, Types: l.noted, Local: l.inFunctions, Replace: d.replace, definitions: d}
	at := l.c.Body.Pos()
	if len(low.types) > 0 {
		out.Decls = []ast.Decl{&ast.GenDecl{TokPos: at, Tok: token.TYPE, Lparen: at, Specs: low.types}}
	}
	if len(l.recursive) > 0 {
		out.Recursive, out.First, out.Decls = l.recursive, out.Decls, nil
	}
	for _, f := range low.funcs {
		out.Decls = append(out.Decls, f)
	}
	var binds []ast.Stmt
	for _, s := range d.fresh {
		spec := &ast.ValueSpec{Names: []*ast.Ident{l.ident(at, s.name)}, Type: l.typeExpr(s.typ, at)}
		out.Decls = append(out.Decls, &ast.GenDecl{TokPos: at, Tok: token.VAR, Specs: []ast.Spec{spec}})
		binds = append(binds, l.bind(at, s.name))
	}
	if l.registrations != nil {
		out.Methods = l.init(l.registrations)
	}
	out.Main = l.init(append(binds, low.body...))
	out.Imports = slices.Collect(maps.Keys(l.imports))
	if out.Points = l.points.list; len(out.Points) > 0 {
		l.program.points = l.points.next - 1
	}
	return out, nil
}

// declaredByCell lowers the types, functions and methods that the cell declares, except for generic
// ones.
func (l *lowerer) declaredByCell(out *lowered) {
	for _, d := range l.c.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
			for _, s := range g.Specs {
				if s := s.(*ast.TypeSpec); s.TypeParams == nil && s.Name.Name != "_" {
					out.types = append(out.types, l.typeSpec(s))
				}
			}
		}
	}
	out.types = l.containersFirst(out.types)
	for _, spec := range out.types {
		out.funcs = append(out.funcs, l.typeHelpers(spec.(*ast.TypeSpec))...)
	}
	for _, d := range l.c.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Type.TypeParams == nil && (f.Recv == nil || !check.HasTypeParams(f)) {
			out.funcs = append(out.funcs, l.funcDecl(f))
		}
	}
}

// callInits returns calls of a package's init functions.
func (l *lowerer) callInits() (calls []ast.Stmt) {
	for _, f := range l.c.Inits {
		calls = append(calls, &ast.ExprStmt{X: &ast.CallExpr{Fun: l.ident(f.Pos(), f.Name.Name), Lparen: f.Pos(), Rparen: f.Pos()}})
	}
	return calls
}

// topLevel lowers the cell's statements to the body of a function. Their variables outlive the
// function.
func (l *lowerer) topLevel() []ast.Stmt {
	stmts := l.c.Stmts
	var value *ast.ExprStmt
	if l.c.List != nil {
		stmts = stmts[:len(stmts)-1]
	}
	if l.c.Value != nil {
		value = stmts[len(stmts)-1].(*ast.ExprStmt)
		stmts = stmts[:len(stmts)-1]
	}
	l.renamePredeclared(l.c.Body)
	l.fn = l.newFunction(nil, l.c.Body.Body)
	l.fn.name = check.PackageName + ".main"
	out := l.stmts(stmts)
	if value != nil {
		out = append(append(out, l.stopBefore(value.X)...), l.show(value.X)...)
	}
	if l.c.List != nil {
		out = append(append(out, l.stopBefore(l.c.List[0])...), l.showList(l.c.List)...)
	}
	return l.finishFunction(l.c.Body.Body, out)
}
