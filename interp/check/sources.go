package check

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/types"
	"maps"
	"strconv"
)

// source adds to a package its generic functions and types, which tables cannot hold, from source.
func (p *Packages) source(pkg *types.Package, files map[string][]byte) error {
	var syntax []*ast.File
	for _, src := range files {
		// All files have the same name, because yaegi finds their imports by it.
		f, err := parser.ParseFile(p.fset, FileName, src, parser.SkipObjectResolution)
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
					g.Func, g.Params = d, fieldNames(d.Type.TypeParams)
					maps.Copy(g.Imports, imports)
					continue
				}
				g := p.sourceOf(env[ReceiverName(d).Name], pkg, env)
				g.Methods = append(g.Methods, d)
				maps.Copy(g.Imports, imports)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						maps.Copy(p.sourceOf(env[s.Name.Name], pkg, env).Imports, imports)
					}
				}
			}
		}
	}
	return nil
}

func (p *Packages) sourceOf(obj types.Object, pkg *types.Package, env map[string]types.Object) *Generic {
	g := p.sources[obj]
	if g == nil {
		g = &Generic{Package: pkg, Env: env, Imports: map[string]string{}}
		p.sources[obj] = g
	}
	return g
}
