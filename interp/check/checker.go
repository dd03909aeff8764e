package check

import (
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"
)

// Checker checks the cells of a session one after the other. It knows what the cells so far have defined and the packages that cells may import,
// but nothing of how cells run.
type Checker struct {
	fset  *token.FileSet
	pkgs  *Packages
	pkg   *types.Package // of all cells
	scope scope

	visible map[string]types.Object // what the scope of pkg holds: what names mean to the next cell, but for those that show changes
	covered map[string]types.Object // what these mean to the session, nil for nothing
}

// scope is what names mean at the top level of the next cell.
type scope struct {
	imports  map[string]string         // import path by the name that cells use
	dots     []string                  // import paths of packages whose names need no qualifier
	dotted   map[string]types.Object   // what these names mean
	objects  map[string]types.Object   // variables, functions, types and constants by name
	generics map[types.Object]*Generic // the generic declarations among them
}

// Packages that need no import.
const (
	symmemName  = "symm" // what cells call symmem
	SymmemPath  = "github.com/symmrepl/symmrepl/symmem"
	DisplayPath = "github.com/symmrepl/symmrepl/display"
	displayDot  = DisplayPath + "/dot"
)

// New returns a checker of an empty session. Positions of cells go into fset. Tables are the symbols of the packages that cells may import, by
// "import/path/name", then by identifier. Names are packages that need no import, by the names that cells use; they are added to display, fmt, math,
// strings, symm and time.
func New(fset *token.FileSet, tables map[string]map[string]reflect.Value, names map[string]string) (*Checker, error) {
	k := &Checker{
		fset: fset, pkgs: newPackages(fset, tables), pkg: types.NewPackage(PackageName, PackageName), covered: map[string]types.Object{},
		scope: scope{imports: map[string]string{}, dotted: map[string]types.Object{}, objects: map[string]types.Object{}, generics: map[types.Object]*Generic{}},
	}
	k.visible = openScope(k.pkg)
	own := map[string]string{"fmt": "fmt", "math": "math", "strings": "strings", "time": "time", symmemName: SymmemPath, "display": DisplayPath}
	maps.Copy(own, names)
	for name, path := range own {
		if _, err := k.pkgs.Import(path); err != nil {
			return nil, err
		}
		k.scope.imports[name] = path
	}
	k.importDot(displayDot)
	return k, nil
}

// Packages are those that cells may import.
func (k *Checker) Packages() *Packages { return k.pkgs }

// Package is the one that all cells are in.
func (k *Checker) Package() *types.Package { return k.pkg }

// Files is the set of files that cells have their positions in.
func (k *Checker) Files() *token.FileSet { return k.fset }

// Objects are what the cells so far have defined, by name. The caller must not change the map.
func (k *Checker) Objects() map[string]types.Object { return k.scope.objects }

// Imports are the import paths of packages by the names that cells use. The caller must not change the map.
func (k *Checker) Imports() map[string]string { return k.scope.imports }

// Dots are the import paths of packages whose names need no qualifier.
func (k *Checker) Dots() []string { return k.scope.dots }

// Generic returns the declaration of a generic function or type of the session or of a package in source, nil for all else.
func (k *Checker) Generic(obj types.Object) *Generic {
	if g := k.scope.generics[obj]; g != nil {
		return g
	}
	return k.pkgs.sources[obj]
}

// Eval checks an expression in which names mean what they mean to the next cell, and more packages by their names.
func (k *Checker) Eval(expr string, more map[string]string) (types.TypeAndValue, error) {
	imports := maps.Clone(k.scope.imports)
	maps.Copy(imports, more)
	own := map[string]types.Object{}
	for name, path := range imports {
		if pkg, err := k.pkgs.Import(path); err == nil && k.scope.objects[name] == nil {
			own[name] = types.NewPkgName(token.NoPos, k.pkg, name, pkg)
		}
	}
	k.show(own, nil)
	return types.Eval(token.NewFileSet(), k.pkg, token.NoPos, expr)
}

// Define makes the definitions of a cell those of the session: the next cell sees them.
func (k *Checker) Define(c *Cell) {
	k.hide()
	s := &k.scope
	for name, path := range c.Imports {
		k.forget(name)
		s.imports[name] = path
	}
	for _, path := range c.Dots {
		if !slices.Contains(s.dots, path) {
			k.importDot(path)
		}
	}
	define := func(name string, obj types.Object) {
		delete(s.imports, name)
		s.objects[name], k.visible[name] = obj, obj
	}
	for name, obj := range c.Objects {
		define(name, obj)
	}
	for _, v := range c.Vars {
		define(v.Name(), v)
	}
	maps.Copy(s.generics, c.Generics)
}

// DropGeneric forgets the declaration of a generic function whose place another has taken.
func (k *Checker) DropGeneric(obj types.Object) { delete(k.scope.generics, obj) }

// forget drops the object that a name meant.
func (k *Checker) forget(name string) {
	delete(k.scope.objects, name)
	if obj := k.scope.dotted[name]; obj != nil {
		k.visible[name] = obj
	} else {
		delete(k.visible, name)
	}
}

// Forget drops the positions of a cell that is not kept.
func (k *Checker) Forget(text *Text) {
	for _, f := range text.files {
		if f.file != nil {
			k.fset.RemoveFile(f.file)
		}
	}
}
