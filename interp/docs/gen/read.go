package main

import (
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/interp/docs"
)

// longGroup is the number of declarations up to which a group is shown as a whole; the declarations
// of a longer group are shown one by one.
const longGroup = 30

// reader collects the entries of one package.
type reader struct {
	fset *token.FileSet
	out  *docs.Package
}

func read(importPath, dir string) (*docs.Package, error) {
	r := &reader{token.NewFileSet(), &docs.Package{Names: map[string]int{}}}
	files, err := parse(r.fset, dir)
	if err != nil {
		return nil, err
	}
	in := &inner{fset: r.fset, importPath: importPath, dir: dir, packages: map[string]*doc.Package{}}
	aliases, promoted, err := in.aliases(files)
	if err != nil {
		return nil, err
	}
	p, err := doc.NewFromFiles(r.fset, files, importPath)
	if err != nil {
		return nil, err
	}
	r.out.Name, r.out.Text = p.Name, trim(p.Doc)
	again, own := split(p.Consts, reexports)
	r.values(own, p.Vars)
	r.funcs("", p.Funcs)
	for _, t := range p.Types {
		if alias := aliases[t.Name]; alias != nil {
			alias.Funcs = t.Funcs
			t = alias
		}
		r.add(r.print(t.Decl), t.Doc, t.Name)
		r.values(t.Consts, t.Vars)
		r.funcs("", t.Funcs)
		r.funcs(t.Name+".", t.Methods)
		r.funcs(t.Name+".", promoted[t.Name])
		r.members(t)
	}
	for _, v := range again {
		if _, known := r.out.Names[v.Names[0]]; !known {
			r.values([]*doc.Value{v})
		}
	}
	return r.out, nil
}

// parse reads the files of a package that are built on this machine.
func parse(fset *token.FileSet, dir string) ([]*ast.File, error) {
	found, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, name := range slices.Concat(found.GoFiles, found.CgoFiles) {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

func (r *reader) add(decl, text string, names ...string) {
	r.out.Entries = append(r.out.Entries, docs.Entry{Decl: decl, Text: trim(text)})
	for _, name := range names {
		if _, ok := r.out.Names[name]; !ok {
			r.out.Names[name] = len(r.out.Entries) - 1
		}
	}
}

func (r *reader) funcs(prefix string, funcs []*doc.Func) {
	for _, f := range funcs {
		r.add(r.print(&ast.FuncDecl{Recv: f.Decl.Recv, Name: f.Decl.Name, Type: f.Decl.Type}), f.Doc, prefix+f.Name)
	}
}

func (r *reader) values(lists ...[]*doc.Value) {
	for _, v := range slices.Concat(lists...) {
		if len(v.Decl.Specs) <= longGroup {
			r.add(r.print(v.Decl), v.Doc, slices.DeleteFunc(slices.Clone(v.Names), func(name string) bool { return !token.IsExported(name) })...)
			continue
		}
		for _, s := range v.Decl.Specs {
			s := s.(*ast.ValueSpec)
			text := s.Doc.Text() + s.Comment.Text()
			s.Doc, s.Comment = nil, nil
			for _, name := range s.Names {
				if name.IsExported() {
					r.add(r.print(&ast.GenDecl{Tok: v.Decl.Tok, Specs: []ast.Spec{s}}), text, name.Name)
				}
			}
		}
	}
}

// members adds the fields of a struct and the methods of an interface.
func (r *reader) members(t *doc.Type) {
	var list *ast.FieldList
	switch def := t.Decl.Specs[0].(*ast.TypeSpec).Type.(type) {
	case *ast.StructType:
		list = def.Fields
	case *ast.InterfaceType:
		list = def.Methods
	default:
		return
	}
	for _, f := range list.List {
		text := f.Doc.Text() + f.Comment.Text()
		for _, name := range f.Names {
			if !name.IsExported() {
				continue
			}
			decl := name.Name + " " + r.print(f.Type)
			if fn, ok := f.Type.(*ast.FuncType); ok && fn.Func == token.NoPos {
				decl = name.Name + strings.TrimPrefix(r.print(f.Type), "func")
			}
			r.add(decl, text, t.Name+"."+name.Name)
		}
	}
}

func (r *reader) print(n ast.Node) string {
	var b strings.Builder
	config := printer.Config{Mode: printer.UseSpaces, Tabwidth: 4}
	if err := config.Fprint(&b, r.fset, n); err != nil {
		return err.Error()
	}
	return b.String()
}

func trim(text string) string { return strings.TrimRight(text, "\n") }
