package check

import (
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Checker checks the cells of a session one after the other. It knows the definitions of the cells
// so far and the packages that cells may import, but not how cells run.
type Checker struct {
	fset  *token.FileSet
	pkgs  *Packages
	pkg   *types.Package // the package of all cells
	scope scope

	// the scope of pkg: the objects of names in the next cell, with the changes that show has made
	visible map[string]types.Object
	// the names that show has changed, with their objects in the session (nil for none)
	covered map[string]types.Object
}

// scope has the names that are visible at the top level of the next cell.
type scope struct {
	imports  map[string]string         // import path by the name that cells use
	dots     []string                  // import paths of packages whose names need no qualifier
	dotted   map[string]types.Object   // the objects of these names
	objects  map[string]types.Object   // variables, functions, types and constants by name
	generics map[types.Object]*Generic // the generic declarations among them
}

// Packages that need no import.
const (
	symmemName  = "symm" // the name of symmem in cells
	SymmemPath  = "github.com/symmrepl/symmrepl/symmem"
	DisplayPath = "github.com/symmrepl/symmrepl/display"
	displayDot  = DisplayPath + "/dot"
)

// New returns a checker for an empty session. Positions of cells are added to fset. Tables has the
// symbols of the packages that cells may import, by "import/path/name", then by identifier. Names
// has packages that need no import, by their names in cells; they are added to display, fmt, math,
// strings, symm and time.
func New(fset *token.FileSet, tables map[string]map[string]reflect.Value, names map[string]string) (*Checker, error) {
	k := &Checker{
		fset: fset, pkgs: newPackages(fset, tables), pkg: types.NewPackage(PackageName, PackageName), covered: map[string]types.Object{},
		scope: scope{imports: map[string]string{}, dotted: map[string]types.Object{}, objects: map[string]types.Object{},
			generics: map[types.Object]*Generic{}},
	}
	k.visible = openScope(k.pkg)
	own := map[string]string{"fmt": "fmt", "math": "math", "strings": "strings", "time": "time", symmemName: SymmemPath,
		"display": DisplayPath}
	maps.Copy(own, names)
	for name, path := range own {
		if !k.pkgs.has(path) {
			return nil, &unknownPackage{path}
		}
		k.scope.imports[name] = path // cells that use the name import the package
	}
	k.importDot(displayDot)
	return k, nil
}

// Packages returns the packages that cells may import.
func (k *Checker) Packages() *Packages { return k.pkgs }

// Package returns the package of all cells.
func (k *Checker) Package() *types.Package { return k.pkg }

// Files returns the file set of the cells' positions.
func (k *Checker) Files() *token.FileSet { return k.fset }

// Objects returns the objects that the cells so far have defined, by name. The caller must not
// change the map.
func (k *Checker) Objects() map[string]types.Object { return k.scope.objects }

// Imports returns the import paths of packages by the names that cells use. The caller must not
// change the map.
func (k *Checker) Imports() map[string]string { return k.scope.imports }

// Dots returns the import paths of packages whose names need no qualifier.
func (k *Checker) Dots() []string { return k.scope.dots }

// Generic returns the declaration of a generic function or type of the session or of a package that
// is kept as source, or nil for other objects.
func (k *Checker) Generic(obj types.Object) *Generic {
	if g := k.scope.generics[obj]; g != nil {
		return g
	}
	return k.pkgs.sources[obj]
}

// Eval checks an expression in the scope of the next cell, in which the packages in more can also
// be used by their names.
func (k *Checker) Eval(expr string, more map[string]string) (types.TypeAndValue, error) {
	imports := maps.Clone(k.scope.imports)
	maps.Copy(imports, more)
	own := map[string]types.Object{}
	for name, path := range imports {
		if !strings.Contains(expr, name) || k.scope.objects[name] != nil {
			continue
		}
		if pkg, err := k.pkgs.Import(path); err == nil {
			own[name] = types.NewPkgName(token.NoPos, k.pkg, name, pkg)
		}
	}
	k.show(own, nil)
	return types.Eval(token.NewFileSet(), k.pkg, token.NoPos, expr)
}

// Define adds the definitions of a cell to the session, so that the next cell sees them.
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

// DropGeneric forgets the declaration of a generic function that another function has replaced.
func (k *Checker) DropGeneric(obj types.Object) { delete(k.scope.generics, obj) }

// forget drops the object of a name.
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
