package main

import (
	"go/ast"
	"go/doc"
	"go/token"
	"path/filepath"
	"strings"
)

// A package may export declarations of packages internal to it: types through aliases, constants
// through their values, and methods through an embedded type. For cells, and in the documentation,
// they belong to the exporting package.

// inner finds declarations in the internal packages of a package.
type inner struct {
	fset       *token.FileSet
	importPath string
	dir        string
	packages   map[string]*doc.Package // by import path
}

// sources returns the import paths of internal packages by their names in a file.
func (in *inner) sources(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, s := range f.Imports {
		p := strings.Trim(s.Path.Value, `"`)
		if rest, ok := strings.CutPrefix(p, in.importPath+"/internal/"); ok {
			name := rest[strings.LastIndexByte(rest, '/')+1:]
			if s.Name != nil {
				name = s.Name.Name
			}
			names[name] = p
		}
	}
	return names
}

// of returns the internal package's type that an expression names, or nil.
func (in *inner) of(e ast.Expr, sources map[string]string) (*doc.Type, error) {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return nil, nil
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok || sources[x.Name] == "" {
		return nil, nil
	}
	p, err := in.open(sources[x.Name])
	if err != nil {
		return nil, err
	}
	for _, t := range p.Types {
		if t.Name == sel.Sel.Name {
			return t, nil
		}
	}
	return nil, nil
}

func (in *inner) open(importPath string) (*doc.Package, error) {
	if p := in.packages[importPath]; p != nil {
		return p, nil
	}
	files, err := parse(in.fset, filepath.Join(in.dir, filepath.FromSlash(strings.TrimPrefix(importPath, in.importPath))))
	if err != nil {
		return nil, err
	}
	p, err := doc.NewFromFiles(in.fset, files, importPath)
	if err == nil {
		in.packages[importPath] = p
	}
	return p, err
}

// aliases returns the types of internal packages by their names in the package, exported or not,
// and the methods that the package's types get from embedded ones.
func (in *inner) aliases(files []*ast.File) (types map[string]*doc.Type, promoted map[string][]*doc.Func, err error) {
	types, promoted = map[string]*doc.Type{}, map[string][]*doc.Func{}
	embeds := map[string][]string{}
	for _, f := range files {
		sources := in.sources(f)
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, s := range g.Specs {
				spec := s.(*ast.TypeSpec)
				if spec.Assign.IsValid() {
					t, err := in.of(spec.Type, sources)
					if err != nil {
						return nil, nil, err
					}
					if t != nil {
						types[spec.Name.Name] = t
					}
				}
				if def, ok := spec.Type.(*ast.StructType); ok {
					embeds[spec.Name.Name] = embedded(def)
				}
			}
		}
	}
	for name, list := range embeds {
		for _, e := range list {
			if t := types[e]; t != nil {
				promoted[name] = append(promoted[name], t.Methods...)
			}
		}
	}
	return types, promoted, nil
}

// embedded lists the types of this package that a struct embeds.
func embedded(def *ast.StructType) (names []string) {
	for _, f := range def.Fields.List {
		if len(f.Names) > 0 {
			continue
		}
		e := f.Type
		if star, ok := e.(*ast.StarExpr); ok {
			e = star.X
		}
		if id, ok := e.(*ast.Ident); ok {
			names = append(names, id.Name)
		}
	}
	return names
}

// reexports reports whether a group of constants only repeats constants of another package, with
// the same names.
func reexports(v *doc.Value) bool {
	for _, s := range v.Decl.Specs {
		spec := s.(*ast.ValueSpec)
		if len(spec.Names) != 1 || len(spec.Values) != 1 {
			return false
		}
		if sel, ok := spec.Values[0].(*ast.SelectorExpr); !ok || sel.Sel.Name != spec.Names[0].Name {
			return false
		}
	}
	return true
}

// split splits a list by a condition.
func split(list []*doc.Value, in func(*doc.Value) bool) (yes, no []*doc.Value) {
	for _, v := range list {
		if in(v) {
			yes = append(yes, v)
		} else {
			no = append(no, v)
		}
	}
	return yes, no
}
