package check

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/internal/wholefile"
	"github.com/symmrepl/symmrepl/session"
)

// When a cell imports a package of the module that the cell's file is in, the package is read from
// its folder and checked as the go command does. It becomes a Cell with a separate package; its
// declarations are named in that package.

// loading has the packages of modules.
type loading struct {
	// folder of the cell that is checked; its module is the one of the nearest go.mod above
	dir   string
	cells map[string]*Cell // by import path; nil while it is being checked
	own   map[*types.Package]bool
	fresh []*Cell // packages that may not have run yet, each after those that it imports
}

// sourceError is the error of a package that does not check.
type sourceError struct{ err *session.Error }

func (e *sourceError) Error() string { return e.err.Error() }

// importer imports packages for the files in a folder.
type importer struct {
	p   *Packages
	dir string
}

func (i importer) Import(importPath string) (*types.Package, error) {
	return i.p.importInto(importPath, i.dir)
}

// Interprets reports whether a package is interpreted: it is the package of all cells, or belongs
// to a module.
func (k *Checker) Interprets(pkg *types.Package) bool { return pkg == k.pkg || k.pkgs.loading.own[pkg] }

// HasModules reports whether the session has packages of modules.
func (k *Checker) HasModules() bool { return len(k.pkgs.loading.own) > 0 }

// InSource reports whether the package at an import path is interpreted.
func (p *Packages) InSource(importPath string) bool {
	return importPath == PackageName || p.loading.cells[importPath] != nil
}

// load reads and checks a package for the files in folder from.
func (p *Packages) load(importPath, from string) (*types.Package, error) {
	if c, ok := p.loading.cells[importPath]; ok {
		switch {
		case c == nil:
			return nil, fmt.Errorf("import cycle: package %s imports itself", importPath)
		case isInternalTo(importPath, c.dir, from):
			return nil, fmt.Errorf("package %s is internal to others", importPath)
		}
		return c.Package, nil
	}
	m, err := moduleOf(from)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, &unknownPackage{importPath}
	}
	dir := m.folder(importPath)
	switch {
	case dir == "":
		return nil, &unknownPackage{importPath}
	case isInternalTo(importPath, dir, from):
		return nil, fmt.Errorf("package %s is internal to others", importPath)
	}
	files, name, err := SourceFiles(shortPath(dir))
	switch {
	case err != nil:
		return nil, fmt.Errorf("package %s: %w", importPath, err)
	case name == "main":
		return nil, fmt.Errorf("package %s is a program, which cannot be imported", importPath)
	}
	c, failed := p.read(types.NewPackage(importPath, name), files, dir)
	if failed != nil {
		return nil, &sourceError{failed}
	}
	return c.Package, nil
}

// SourceFiles returns the files of the package in a folder that are built on this machine without
// cgo, and the package's name.
func SourceFiles(dir string) (files []string, name string, err error) {
	how := build.Default
	how.CgoEnabled = false
	how.BuildTags = tags(os.Getenv("GOFLAGS"))
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, "", fmt.Errorf("there is no folder %s", shortPath(dir))
	}
	pkg, err := how.ImportDir(dir, 0)
	var none *build.NoGoError
	switch {
	case errors.As(err, &none) && len(pkg.IgnoredGoFiles) > 0:
		return nil, "", fmt.Errorf("no file of %s is for this machine, without cgo", shortPath(dir))
	case errors.As(err, &none):
		return nil, "", fmt.Errorf("there are no files of Go in %s", shortPath(dir))
	case err != nil:
		return nil, "", err
	}
	for _, f := range pkg.GoFiles {
		files = append(files, filepath.Join(dir, f))
	}
	return files, pkg.Name, nil
}

// tags returns the build tags in the flags of the go command.
func tags(flags string) (list []string) {
	for word := range strings.FieldsSeq(flags) {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(word, "-"), "tags="); ok {
			list = strings.Split(rest, ",")
		}
	}
	return list
}

// read parses and checks the files of a package in the folder dir.
func (p *Packages) read(pkg *types.Package, files []string, dir string) (c *Cell, failed *session.Error) {
	at := pkg.Path()
	p.loading.cells[at] = nil
	defer func() {
		if failed != nil {
			delete(p.loading.cells, at)
		}
	}()
	c = newCell(&Syntax{}, map[string]string{}, 0)
	c.Package, c.dir = pkg, dir
	var syntax []*ast.File
	var sources []*Syntax
	for _, file := range files {
		f, s, failed := p.parse(file)
		if failed != nil {
			return nil, failed
		}
		syntax, sources = append(syntax, f), append(sources, s)
		c.merge(f, s)
	}
	if failed := p.checkSource(c, syntax, sources, dir); failed != nil {
		return nil, failed
	}
	c.arrangeSource(syntax)
	known := names{c.Objects, map[string]types.Object{}}
	for _, v := range c.Vars {
		known.define(v.Name(), v)
	}
	for _, at := range c.Dots {
		for name, obj := range p.exported(at) {
			known.define(name, obj)
		}
	}
	c.keepGenerics(pkg, known)
	for obj, g := range c.Generics {
		p.sources[obj] = g
	}
	p.loading.own[pkg], p.loading.cells[at] = true, c
	p.loading.fresh = append(p.loading.fresh, c)
	return c, nil
}

// parse parses a file of a package. Embedded files become values of its variables.
func (p *Packages) parse(file string) (*ast.File, *Syntax, *session.Error) {
	name := shortPath(file)
	source, err := wholefile.Read(file, "a file of Go", session.MaxSource)
	if err != nil {
		return nil, nil, &session.Error{Kind: session.KindSystem, Peer: -1, File: name, Line: 1, Msg: err.Error()}
	}
	s := &Syntax{Text: &Text{Name: name, Line: 1, cell: session.Cell{Source: string(source), Name: name}}, passing: map[string]string{}}
	base := p.fset.Base()
	// Yaegi finds the imports of a file by the last part of its name: see FileName.
	f, err := parser.ParseFile(p.fset, path.Join(filepath.ToSlash(name), FileName), source, parser.SkipObjectResolution|parser.AllErrors)
	s.files = []parsedFile{{p.fset.File(token.Pos(base)), 0}}
	var list scanner.ErrorList
	if errors.As(err, &list) {
		return nil, nil, s.syntaxError(list, 0).Err
	}
	s.noteLocals(s.files[0], f.Decls)
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			for _, spec := range g.Specs {
				s.imports = append(s.imports, spec.(*ast.ImportSpec))
			}
		} else if ok && g.Tok == token.VAR {
			s.Stmts = append(s.Stmts, &ast.DeclStmt{Decl: g})
		} else {
			s.Decls = append(s.Decls, d)
		}
	}
	if failed := s.embed(); failed != nil {
		return nil, nil, failed.Err
	}
	for name, path := range s.passing {
		addImport(f, name, path)
	}
	return f, s, nil
}

// merge adds a file to the cell of its package.
func (c *Cell) merge(f *ast.File, s *Syntax) {
	if c.Text == nil {
		c.Text = s.Text
		at := f.Name.End()
		c.Body = &ast.FuncDecl{
			Name: &ast.Ident{NamePos: at, Name: "init"}, Type: &ast.FuncType{Func: at, Params: &ast.FieldList{Opening: at}},
			Body: &ast.BlockStmt{Lbrace: at, Rbrace: at},
		}
	}
	c.texts = append(c.texts, s.Text)
	for _, d := range s.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && isInit(fn) {
			c.Inits = append(c.Inits, fn)
		}
		c.Decls = append(c.Decls, d)
	}
}

// checkSource makes go/types check the files of a package.
func (p *Packages) checkSource(c *Cell, syntax []*ast.File, sources []*Syntax, dir string) *session.Error {
	var imported *sourceError // error of an imported package
	found := map[*Text][]diagnostic{}
	report := func(pos token.Pos, msg string) {
		text := c.TextOf(pos)
		line, column, _ := text.Position(pos)
		found[text] = append(found[text], diagnostic{line, column, strings.ReplaceAll(msg, "/"+FileName+":", ":")})
	}
	conf := types.Config{GoVersion: goVersion, Importer: importerFunc(func(importPath string) (*types.Package, error) {
		pkg, err := importer{p, dir}.Import(importPath)
		if imported == nil {
			errors.As(err, &imported)
		}
		return pkg, err
	})}
	conf.Error = func(err error) {
		e, ok := err.(types.Error)
		switch {
		case !ok:
			report(c.Body.Pos(), err.Error())
		case !strings.HasPrefix(e.Msg, "\t"):
			report(e.Pos, e.Msg)
		}
	}
	for _, d := range c.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body == nil {
			report(fn.Pos(), "missing function body: functions in assembly are for the go command")
		}
	}
	if len(found) == 0 {
		if fault := checkFiles(&conf, p.fset, c.Package, c.Info, syntax); fault != nil {
			report(c.Body.Pos(), fault.Error())
		}
	}
	if imported != nil {
		return imported.err
	}
	for _, s := range sources {
		if list := found[s.Text]; list != nil {
			return s.errorOf(session.KindType, list)
		}
		for _, spec := range s.imports {
			if spec.Name != nil && spec.Name.Name == "." {
				c.Dots = append(c.Dots, strings.Trim(spec.Path.Value, "\"`"))
			}
		}
	}
	return nil
}

// importerFunc is a function that implements an importer.
type importerFunc func(importPath string) (*types.Package, error)

func (f importerFunc) Import(importPath string) (*types.Package, error) { return f(importPath) }

// arrangeSource turns the variable declarations of a package into statements, in the order of their
// initialisation.
func (c *Cell) arrangeSource(syntax []*ast.File) {
	c.Objects = map[string]types.Object{}
	scope := c.Package.Scope()
	for _, name := range scope.Names() {
		if v, ok := scope.Lookup(name).(*types.Var); ok {
			c.Vars = append(c.Vars, v)
		} else {
			c.Objects[name] = scope.Lookup(name)
		}
	}
	slices.SortFunc(c.Vars, func(a, b *types.Var) int { return cmp.Compare(a.Pos(), b.Pos()) })
	idents, typed := map[*types.Var]*ast.Ident{}, map[*types.Var]ast.Expr{}
	add := func(spec *ast.ValueSpec) {
		c.Stmts = append(c.Stmts, &ast.DeclStmt{Decl: &ast.GenDecl{TokPos: spec.Pos(), Tok: token.VAR, Specs: []ast.Spec{spec}}})
	}
	for _, f := range syntax {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				spec := s.(*ast.ValueSpec)
				for _, id := range spec.Names {
					v := c.Info.Defs[id].(*types.Var)
					idents[v], typed[v] = id, spec.Type
				}
				if spec.Values == nil {
					add(spec)
				}
			}
		}
	}
	for _, init := range c.Info.InitOrder {
		spec := &ast.ValueSpec{Type: typed[init.Lhs[0]], Values: []ast.Expr{init.Rhs}}
		for _, v := range init.Lhs {
			spec.Names = append(spec.Names, idents[v])
		}
		add(spec)
	}
	c.Body.Body.List = c.Stmts
}

// takeFresh returns the packages that were loaded since its last call, in the order of their
// initialisation: sorted by import path, but each after those that it imports.
func (p *Packages) takeFresh() (list []*Cell) {
	rest := p.loading.fresh
	p.loading.fresh = nil
	slices.SortFunc(rest, func(a, b *Cell) int { return cmp.Compare(a.Package.Path(), b.Package.Path()) })
	for len(rest) > 0 {
		i := slices.IndexFunc(rest, func(c *Cell) bool {
			return !slices.ContainsFunc(rest, func(other *Cell) bool { return slices.Contains(c.Package.Imports(), other.Package) })
		})
		list = append(list, rest[i])
		rest = slices.Delete(rest, i, i+1)
	}
	return list
}

// Unload makes packages be read again at their next import, because their initialisation has
// failed.
func (k *Checker) Unload(packages []*Cell) {
	for _, c := range packages {
		delete(k.pkgs.loading.cells, c.Package.Path())
	}
}

// dropFresh drops the packages that were loaded for a cell that does not check.
func (k *Checker) dropFresh() { k.DropPackages(k.pkgs.takeFresh()) }

// DropPackages drops packages that no code uses, because the cell for which they were loaded does
// not run.
func (k *Checker) DropPackages(packages []*Cell) {
	k.Unload(packages)
	for _, c := range packages {
		for obj := range c.Generics {
			delete(k.pkgs.sources, obj)
		}
		delete(k.pkgs.loading.own, c.Package)
		for _, text := range c.texts {
			k.Forget(text)
		}
	}
}
