package interp

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"

	"github.com/symmrepl/symmrepl/session"
)

// Checker checks the cells of a session one after the other. It knows what the cells so far have defined and the packages that cells may import,
// but nothing of how cells run.
type Checker struct {
	fset  *token.FileSet
	pkgs  *packages
	pkg   *types.Package // of all cells
	scope scope
}

// scope is what names mean at the top level of the next cell.
type scope struct {
	imports  map[string]string         // import path by the name that cells use
	dots     []string                  // import paths of packages whose names need no qualifier
	objects  map[string]types.Object   // variables, functions, types and constants by name
	generics map[types.Object]*generic // the generic declarations among them
}

// Packages that need no import.
const (
	symmemPath  = "github.com/symmrepl/symmrepl/symmem"
	displayPath = "github.com/symmrepl/symmrepl/display"
	displayDot  = displayPath + "/dot"
)

// NewChecker returns a checker of an empty session. Positions of cells go into fset. Tables are the symbols of the packages that cells may import, by
// "import/path/name", then by identifier. Names are packages that need no import, by the names that cells use; they are added to display, fmt, math,
// strings, symm and time.
func NewChecker(fset *token.FileSet, tables map[string]map[string]reflect.Value, names map[string]string) (*Checker, error) {
	k := &Checker{
		fset: fset, pkgs: newPackages(fset, tables), pkg: types.NewPackage(cellPackage, cellPackage),
		scope: scope{imports: map[string]string{}, objects: map[string]types.Object{}, generics: map[types.Object]*generic{}},
	}
	own := map[string]string{"fmt": "fmt", "math": "math", "strings": "strings", "time": "time", "symm": symmemPath, "display": displayPath}
	maps.Copy(own, names)
	for name, path := range own {
		if _, err := k.pkgs.Import(path); err != nil {
			return nil, err
		}
		k.scope.imports[name] = path
	}
	k.scope.dots = []string{displayDot}
	return k, nil
}

// Packages are those that cells may import.
func (k *Checker) Packages() *packages { return k.pkgs }

// Package is the one that all cells are in.
func (k *Checker) Package() *types.Package { return k.pkg }

// Files is the set of files that cells have their positions in.
func (k *Checker) Files() *token.FileSet { return k.fset }

// Object returns what a name means that a cell has defined, nil if none has.
func (k *Checker) Object(name string) types.Object { return k.scope.objects[name] }

// Objects are what the cells so far have defined, by name. The caller must not change the map.
func (k *Checker) Objects() map[string]types.Object { return k.scope.objects }

// Imports are the import paths of packages by the names that cells use. The caller must not change the map.
func (k *Checker) Imports() map[string]string { return k.scope.imports }

// Dots are the import paths of packages whose names need no qualifier.
func (k *Checker) Dots() []string { return k.scope.dots }

// Generic returns the declaration of a generic function or type of the session or of a package in source, nil for all else.
func (k *Checker) Generic(obj types.Object) *generic {
	if g := k.scope.generics[obj]; g != nil {
		return g
	}
	return k.pkgs.sources[obj]
}

// Define makes the definitions of a cell those of the session: the next cell sees them.
func (k *Checker) Define(c *checked) {
	s := &k.scope
	for name, path := range c.imports {
		k.forget(name)
		s.imports[name] = path
	}
	for _, path := range c.dots {
		if !slices.Contains(s.dots, path) {
			s.dots = append(s.dots, path)
		}
	}
	define := func(name string, obj types.Object) {
		k.forget(name)
		delete(s.imports, name)
		s.objects[name] = obj
	}
	for name, obj := range c.objects {
		define(name, obj)
	}
	for _, v := range c.vars {
		define(v.Name(), v)
	}
	maps.Copy(s.generics, c.generics)
}

// DropGeneric forgets the declaration of a generic function whose place another has taken.
func (k *Checker) DropGeneric(obj types.Object) { delete(k.scope.generics, obj) }

// forget drops the object that a name meant.
func (k *Checker) forget(name string) {
	delete(k.scope.objects, name)
}

// Forget drops the positions of a cell that is not kept.
func (k *Checker) Forget(text *cellText) {
	for _, f := range text.files {
		if f.file != nil {
			k.fset.RemoveFile(f.file)
		}
	}
}

// failure is a cell that does not parse or check.
type failure struct {
	err     *session.Error // without a hint
	missing string         // the brackets that the cell leaves open, if it does not parse because it ends too early

	attempt *attempt  // at the check; nil if the cell does not parse
	msg     string    // of go/types, the first in the cell
	at      token.Pos // where it is in the cell's syntax
}

// Error is that of the session's error.
func (f *failure) Error() string { return f.err.Error() }

// checked is a cell that type-checks.
type checked struct {
	*parsed
	info     *types.Info
	imports  map[string]string       // path by name, of the cell's own imports
	dots     []string                // paths of those by a dot
	auto     map[string]string       // those of them that the cell does not spell
	objects  map[string]types.Object // functions, types and constants the cell declares
	vars     []*types.Var            // variables of its top level, in order
	values   []types.Type            // of the last expression; nil when there is none
	value    ast.Expr
	added    []addedMethod
	generics map[types.Object]*generic // that the cell declares
}

// addedMethod is a method of a type that an earlier cell declared.
type addedMethod struct {
	base  *types.Named
	fn    *types.Func
	again bool // the type had it already
}
