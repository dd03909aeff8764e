package interp

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/types"
	"maps"
	"strconv"
)

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
