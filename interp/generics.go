package interp

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Generic functions and types never reach yaegi. Their declarations are checked, as go/types checks them, and kept as syntax together with what
// the names in them meant there. Lowered code that uses one with a list of type arguments gets an instance: a copy of the declaration in which
// the type parameters are names of the type arguments, checked again and lowered like any other function or type (instance.go). The standard
// library's generic packages are sources of ours (package generics) that are treated the same way.

// generic is a declaration that has type parameters, or one of a package that is kept in source.
type generic struct {
	pkg     *types.Package
	fn      *ast.FuncDecl           // nil for a type
	methods []*ast.FuncDecl         // of a type
	params  []string                // names of a function's type parameters
	env     map[string]types.Object // what names mean in it, by name
	imports map[string]string       // path by name
	consts  map[*ast.CallExpr]bool  // conversions of constants to a type parameter
	text    *cellText               // where it stands; nil in packages
}

// keepGenerics notes the generic declarations of a cell that checks. known is what names mean at its top level.
func (k *checker) keepGenerics(known map[string]types.Object) {
	c := k.c
	c.generics = map[types.Object]*generic{}
	add := func(name *ast.Ident) *generic {
		obj := c.objects[name.Name]
		if obj == nil {
			return &generic{}
		}
		g := c.generics[obj]
		if g == nil {
			g = &generic{pkg: k.in.pkg, env: map[string]types.Object{}, imports: map[string]string{}, consts: map[*ast.CallExpr]bool{}, text: c.cellText}
			c.generics[obj] = g
		}
		return g
	}
	for _, d := range c.decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			switch {
			case d.Recv == nil && d.Type.TypeParams != nil:
				g := add(d.Name)
				g.fn, g.params = d, fieldNames(d.Type.TypeParams)
				k.environment(g, d, known)
			case d.Recv != nil && hasTypeParams(d):
				g := add(receiverName(d))
				g.methods = append(g.methods, d)
				k.environment(g, d, known)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok && s.TypeParams != nil {
					add(s.Name)
				}
			}
		}
	}
}

// environment records in g what the names in a declaration mean that are declared outside of it.
func (k *checker) environment(g *generic, d ast.Node, known map[string]types.Object) {
	info := k.c.info
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			switch obj := info.Uses[n].(type) {
			case nil:
			case *types.PkgName:
				g.imports[n.Name] = obj.Imported().Path()
			default:
				if known[n.Name] == obj {
					g.env[n.Name] = obj
				}
			}
		case *ast.CallExpr:
			if tv := info.Types[n.Fun]; tv.IsType() && len(n.Args) == 1 && info.Types[n.Args[0]].Value != nil {
				_, toParam := types.Unalias(tv.Type).(*types.TypeParam)
				g.consts[n] = toParam
			}
		}
		return true
	})
}

func fieldNames(f *ast.FieldList) []string {
	var names []string
	if f == nil {
		return nil
	}
	for _, field := range f.List {
		for _, id := range field.Names {
			names = append(names, id.Name)
		}
	}
	return names
}

// receiverParams returns the names that a method of a generic type gives the type parameters.
func receiverParams(f *ast.FuncDecl) []string {
	t := ast.Unparen(f.Recv.List[0].Type)
	if s, ok := t.(*ast.StarExpr); ok {
		t = ast.Unparen(s.X)
	}
	var list []ast.Expr
	switch t := t.(type) {
	case *ast.IndexExpr:
		list = []ast.Expr{t.Index}
	case *ast.IndexListExpr:
		list = t.Indices
	}
	var names []string
	for _, e := range list {
		name := "_"
		if id, ok := ast.Unparen(e).(*ast.Ident); ok {
			name = id.Name
		}
		names = append(names, name)
	}
	return names
}

// genericType returns the declaration of a generic type among decls.
func genericType(decls []ast.Decl, name *ast.Ident) *ast.TypeSpec {
	for _, d := range decls {
		if g, ok := d.(*ast.GenDecl); ok {
			for _, s := range g.Specs {
				if s, ok := s.(*ast.TypeSpec); ok && s.TypeParams != nil && name != nil && s.Name.Name == name.Name {
					return s
				}
			}
		}
	}
	return nil
}

// genericBody is the method f of the generic type t as a generic function (see body).
func genericBody(f *ast.FuncDecl, t *ast.TypeSpec) *ast.FuncDecl {
	own, declared := receiverParams(f), fieldNames(t.TypeParams)
	if len(own) != len(declared) {
		return f
	}
	called := map[string]string{} // by the method, by the type's names
	for i, name := range own {
		if name == "_" {
			name = "_#" + strconv.Itoa(i)
		}
		called[declared[i]] = name
	}
	g := body(f)
	typ := *g.Type
	typ.TypeParams = cloneSyntax(t.TypeParams, func(n ast.Node) ast.Node {
		if id, ok := n.(*ast.Ident); ok && called[id.Name] != "" {
			return &ast.Ident{NamePos: id.Pos(), Name: called[id.Name]}
		}
		return nil
	})
	pos := f.Recv.Pos()
	recv := *typ.Params.List[0]
	list := &ast.IndexListExpr{X: receiverName(f), Lbrack: pos, Rbrack: pos}
	for _, name := range declared {
		list.Indices = append(list.Indices, &ast.Ident{NamePos: pos, Name: called[name]})
	}
	_, byPointer := ast.Unparen(recv.Type).(*ast.StarExpr)
	if recv.Type = list; byPointer {
		recv.Type = &ast.StarExpr{Star: pos, X: list}
	}
	params := *typ.Params
	params.List = slices.Concat([]*ast.Field{&recv}, params.List[1:])
	typ.Params = &params
	g.Type = &typ
	return g
}

// source adds to a package what it has in source: the generic functions and types that tables cannot hold.
func (p *packages) source(pkg *types.Package, files map[string][]byte) error {
	var syntax []*ast.File
	for _, src := range files {
		// All syntax is in files of one name: yaegi finds what they import by it.
		f, err := parser.ParseFile(p.fset, fileName, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		syntax = append(syntax, f)
	}
	var errs []error
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: p, IgnoreFuncBodies: true, GoVersion: goVersion, Error: func(err error) { errs = append(errs, err) }}
	if types.NewChecker(&conf, p.fset, pkg, info).Files(syntax); len(errs) > 0 {
		return errors.Join(errs...)
	}
	env := map[string]types.Object{}
	for _, name := range pkg.Scope().Names() {
		env[name] = pkg.Scope().Lookup(name)
	}
	for _, f := range syntax {
		imports := map[string]string{}
		for _, s := range f.Imports {
			path, _ := strconv.Unquote(s.Path.Value)
			imported, err := p.Import(path)
			if err != nil {
				return err
			}
			imports[imported.Name()] = path
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					g := p.sourceOf(env[d.Name.Name], pkg, env)
					g.fn, g.params = d, fieldNames(d.Type.TypeParams)
					maps.Copy(g.imports, imports)
					continue
				}
				g := p.sourceOf(env[receiverName(d).Name], pkg, env)
				g.methods = append(g.methods, d)
				maps.Copy(g.imports, imports)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						maps.Copy(p.sourceOf(env[s.Name.Name], pkg, env).imports, imports)
					}
				}
			}
		}
	}
	return nil
}

func (p *packages) sourceOf(obj types.Object, pkg *types.Package, env map[string]types.Object) *generic {
	g := p.sources[obj]
	if g == nil {
		g = &generic{pkg: pkg, env: env, imports: map[string]string{}}
		p.sources[obj] = g
	}
	return g
}

// generic returns the declaration that instances of obj are made of; nil for what is not generic.
func (l *lowerer) generic(obj types.Object) *generic {
	if g := l.c.generics[obj]; g != nil {
		return g
	}
	if g := l.in.scope.generics[obj]; g != nil {
		return g
	}
	return l.in.pkgs.sources[obj]
}

// isOwn reports whether a function or method is interpreted: one of a cell, or of a package that has it in source.
func (l *lowerer) isOwn(fn *types.Func) bool {
	if fn.Pkg() == l.in.pkg || l.generic(fn.Origin()) != nil {
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
func (l *lowerer) checkInstance(g *generic, f *ast.FuncDecl, name *ast.Ident, names []string, args []types.Type) *types.Func {
	defer setScope(g.pkg)()
	scope := g.pkg.Scope()
	file := &ast.File{Package: f.Pos(), Name: &ast.Ident{NamePos: f.Pos(), Name: g.pkg.Name()}, Decls: []ast.Decl{}}
	for i, name := range names {
		t := types.NewTypeName(token.NoPos, g.pkg, name, args[i])
		l.params[t] = true
		scope.Insert(t)
	}
	for name, obj := range g.env {
		if scope.Lookup(name) == nil {
			scope.Insert(obj)
		}
	}
	for name, path := range g.imports {
		if scope.Lookup(name) == nil {
			spec := &ast.ImportSpec{Name: ast.NewIdent(name), Path: &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(path)}}
			file.Decls = append(file.Decls, &ast.GenDecl{Tok: token.IMPORT, Specs: []ast.Spec{spec}})
			file.Imports = append(file.Imports, spec)
		}
	}
	file.Decls = append(file.Decls, f)
	var failed error
	conf := types.Config{Importer: l.in.pkgs, GoVersion: goVersion, Error: func(err error) {
		// The same type twice in a type switch is no error of a generic function.
		if e, ok := err.(types.Error); ok && !e.Soft && !strings.HasPrefix(e.Msg, "duplicate case") && !strings.HasPrefix(e.Msg, "\t") && failed == nil {
			failed = err
		}
	}}
	types.NewChecker(&conf, l.in.fset, g.pkg, l.info).Files([]*ast.File{file})
	if failed != nil {
		l.refuse(f.Pos(), "with these type arguments "+plainNames(name.Name)+" cannot be compiled: "+failed.Error())
	}
	fn := l.info.Defs[f.Name].(*types.Func)
	l.info.Defs[name] = fn
	return fn
}
