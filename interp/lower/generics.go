package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/run"
)

// generic returns the declaration that instances of obj are made of; nil for what is not generic.
func (l *lowerer) generic(obj types.Object) *check.Generic {
	if g := l.c.Generics[obj]; g != nil {
		return g
	}
	return l.checker.Generic(obj)
}

// isOwn reports whether a function or method is interpreted: one of a cell, or of a package that has it in source.
func (l *lowerer) isOwn(fn *types.Func) bool {
	if fn.Pkg() == l.checker.Package() || l.generic(fn.Origin()) != nil {
		return true
	}
	if recv := fn.Signature().Recv(); recv != nil {
		t := recv.Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		named, ok := t.(*types.Named)
		return ok && l.generic(named.Origin().Obj()) != nil
	}
	return false
}

// checkInstance checks f, a copy of the body of a declaration (see body), with its type parameters bound to types, and returns the function it is: what name,
// that of the declaration, is then, too.
func (l *lowerer) checkInstance(g *check.Generic, f *ast.FuncDecl, name *ast.Ident, names []string, args []types.Type) *types.Func {
	defer check.SetScope(g.Package)()
	scope := g.Package.Scope()
	file := &ast.File{Package: f.Pos(), Name: &ast.Ident{NamePos: f.Pos(), Name: g.Package.Name()}, Decls: []ast.Decl{}}
	for i, name := range names {
		t := types.NewTypeName(token.NoPos, g.Package, name, args[i])
		l.params[t] = true
		scope.Insert(t)
	}
	for name, obj := range g.Env {
		if scope.Lookup(name) == nil {
			scope.Insert(obj)
		}
	}
	for name, path := range g.Imports {
		if scope.Lookup(name) == nil {
			spec := &ast.ImportSpec{Name: ast.NewIdent(name), Path: &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(path)}}
			file.Decls = append(file.Decls, &ast.GenDecl{Tok: token.IMPORT, Specs: []ast.Spec{spec}})
			file.Imports = append(file.Imports, spec)
		}
	}
	file.Decls = append(file.Decls, f)
	var failed error
	conf := types.Config{Importer: l.checker.Packages(), GoVersion: check.GoVersion, Error: func(err error) {
		// The same type twice in a type switch is no error of a generic function.
		if e, ok := err.(types.Error); ok && !e.Soft && !strings.HasPrefix(e.Msg, "duplicate case") && !strings.HasPrefix(e.Msg, "\t") && failed == nil {
			failed = err
		}
	}}
	types.NewChecker(&conf, l.checker.Files(), g.Package, l.info).Files([]*ast.File{file})
	if failed != nil {
		l.refuse(f.Pos(), "with these type arguments "+run.PlainNames(name.Name)+" cannot be compiled: "+failed.Error())
	}
	fn := l.info.Defs[f.Name].(*types.Func)
	l.info.Defs[name] = fn
	return fn
}
