package check

import (
	"go/constant"
	"go/token"
	"go/types"
	"path"
	"reflect"
	"sort"
	"strings"
	"sync"

	"github.com/symmrepl/symmrepl/interp/generics"
)

// Packages provides go/types with the packages that cells may import. It builds them by reflection
// from the interpreter's tables, so the checker and the interpreter see the same symbols, and no Go
// installation is needed. A package is built at its first import. Types are shared between
// packages, so that identical types are identical everywhere.
type Packages struct {
	tables map[string]map[string]reflect.Value // by import path
	names  map[string]string                   // package name by import path
	// packages built so far; some only have the types that others refer to
	built  map[string]*types.Package
	owners map[string]string // by import path of an internal package: see owner
	types  map[reflect.Type]types.Type
	named  sync.Map // reflect.Type by *types.TypeName, the inverse of types; running cells read it

	fset    *token.FileSet
	sources map[types.Object]*Generic // declarations of packages that are kept as source
	loading loading
}

func newPackages(fset *token.FileSet, tables map[string]map[string]reflect.Value) *Packages {
	p := &Packages{
		tables: map[string]map[string]reflect.Value{},
		names:  map[string]string{"unsafe": "unsafe"},
		built:  map[string]*types.Package{"unsafe": types.Unsafe},
		owners: map[string]string{},
		types:  map[reflect.Type]types.Type{},

		fset:    fset,
		sources: map[types.Object]*Generic{},
		loading: loading{dir: ".", cells: map[string]*Cell{}, own: map[*types.Package]bool{}},
	}
	for key, table := range tables {
		// A key is the import path and the package name: "math/rand/rand".
		if dir := path.Dir(key); dir != "." && dir != "/" && !strings.HasPrefix(dir, yaegiPath) {
			p.tables[dir], p.names[dir] = table, path.Base(key)
		}
	}
	return p
}

// yaegiPath is the prefix of the import paths of yaegi's own packages, whose tables are not for
// cells.
const yaegiPath = "github.com/traefik/"

// Import implements types.Importer for the cell that is being checked.
func (p *Packages) Import(importPath string) (*types.Package, error) {
	return p.importInto(importPath, p.loading.dir)
}

// importInto imports a package for files in a folder.
func (p *Packages) importInto(importPath, dir string) (*types.Package, error) {
	if importPath == "unsafe" {
		return types.Unsafe, nil
	}
	table, ok := p.tables[importPath]
	files, inSource := generics.Source(importPath)
	if !ok && !inSource {
		return p.load(importPath, dir)
	}
	pkg := p.Package(importPath)
	if pkg.Complete() {
		return pkg, nil
	}
	pkg.MarkComplete()
	names := make([]string, 0, len(table))
	for name := range table {
		if token.IsExported(name) {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		if obj := p.object(pkg, name, table[name]); obj != nil && pkg.Scope().Lookup(name) == nil {
			pkg.Scope().Insert(obj)
		}
	}
	if inSource {
		return pkg, p.source(pkg, files)
	}
	return pkg, nil
}

// has reports whether a package is in the tables or kept as source.
func (p *Packages) has(importPath string) bool {
	_, inTables := p.tables[importPath]
	_, inSource := generics.Source(importPath)
	return inTables || inSource
}

// unknownPackage is the error for a package that is in no table.
type unknownPackage struct{ path string }

func (e *unknownPackage) Error() string {
	text := "package " + e.path + " is not available in cells"
	first, _, _ := strings.Cut(e.path, "/")
	switch {
	case e.path == "C":
		text += ": cgo needs the go command; symm.Compile compiles kernels, and os/exec runs other programs"
	case e.path == "plugin":
		text += ": plugins are for programs that the go command builds; :load runs the cells of a file"
	case e.path == "runtime/race", e.path == "syscall/js":
		text += ": it is for programs that are built in another way"
	case strings.HasPrefix(e.path, "./"), strings.HasPrefix(e.path, "../"):
		text += ": a folder is imported by the path of its module and its own below that, and :load runs the cells of a file"
	case first == "internal" || strings.Contains(e.path, "/internal/") || strings.HasSuffix(e.path, "/internal"):
		text += ": it is internal to others"
	case strings.Contains(first, "."):
		text += ": the standard library, symmem, gonum and gonum.org/v1/plot are, and packages in the module of the folder or its folder vendor; go mod vendor copies the package there, or put the parts that you need into a cell, or use the package in a program that drives the session with package client"
	}
	return text
}

// HasType reports whether the table of its package has a type under its name.
func (p *Packages) HasType(obj *types.TypeName) bool {
	v, ok := p.tables[obj.Pkg().Path()][obj.Name()]
	return ok && v.Kind() == reflect.Pointer && v.IsNil()
}

func (p *Packages) Package(importPath string) *types.Package {
	importPath = p.owner(importPath)
	if c := p.loading.cells[importPath]; c != nil {
		return c.Package
	}
	if pkg := p.built[importPath]; pkg != nil {
		return pkg
	}
	name := p.names[importPath]
	if name == "" {
		name = path.Base(importPath)
	}
	pkg := types.NewPackage(importPath, name)
	p.built[importPath] = pkg
	return pkg
}

// exports reports whether the table of a package has a type under its own name.
func (p *Packages) exports(importPath string, t reflect.Type) bool {
	v, ok := p.tables[importPath][t.Name()]
	return ok && v.Kind() == reflect.Pointer && v.IsNil() && v.Type().Elem() == t
}

// owner returns the package to which the package at importPath belongs for cells: itself, or the
// package to which it is internal and that exports types of it by aliases.
func (p *Packages) owner(importPath string) string {
	at, _, isInternal := strings.Cut(importPath, "/internal/")
	if !isInternal {
		return importPath
	}
	owner, known := p.owners[importPath]
	if !known {
		owner = importPath
		for _, v := range p.tables[at] {
			if v.Kind() == reflect.Pointer && v.IsNil() && v.Type().Elem().PkgPath() == importPath {
				owner = at
				break
			}
		}
		p.owners[importPath] = owner
	}
	return owner
}

// object returns the object for a table entry: a nil pointer stands for a type, a constant.Value
// for an untyped constant, an addressable value for a variable, a function for a function, and any
// other value for a typed constant.
func (p *Packages) object(pkg *types.Package, name string, v reflect.Value) types.Object {
	t := v.Type()
	if c, ok := v.Interface().(constant.Value); ok && !v.CanAddr() {
		return types.NewConst(token.NoPos, pkg, name, untypedOf(c), c)
	}
	switch {
	case t.Kind() == reflect.Pointer && v.IsNil() && !v.CanAddr():
		elem := t.Elem()
		typ := p.TypeOf(elem)
		if n, ok := typ.(*types.Named); ok && n.Obj().Name() == name && n.Obj().Pkg() == pkg {
			return n.Obj()
		}
		alias := types.NewTypeName(token.NoPos, pkg, name, nil)
		types.NewAlias(alias, typ)
		return alias
	case v.CanAddr():
		return types.NewVar(token.NoPos, pkg, name, p.TypeOf(t))
	case t.Kind() == reflect.Func:
		sig, ok := p.TypeOf(t).Underlying().(*types.Signature)
		if !ok {
			return nil
		}
		return types.NewFunc(token.NoPos, pkg, name, sig)
	}
	if c := constantOf(v); c != nil {
		return types.NewConst(token.NoPos, pkg, name, p.TypeOf(t), c)
	}
	return nil
}

func untypedOf(c constant.Value) types.Type {
	switch c.Kind() {
	case constant.Bool:
		return types.Typ[types.UntypedBool]
	case constant.String:
		return types.Typ[types.UntypedString]
	case constant.Int:
		return types.Typ[types.UntypedInt]
	case constant.Complex:
		return types.Typ[types.UntypedComplex]
	}
	return types.Typ[types.UntypedFloat]
}

func constantOf(v reflect.Value) constant.Value {
	switch {
	case v.Kind() == reflect.Bool:
		return constant.MakeBool(v.Bool())
	case v.Kind() == reflect.String:
		return constant.MakeString(v.String())
	case v.CanInt():
		return constant.MakeInt64(v.Int())
	case v.CanUint():
		return constant.MakeUint64(v.Uint())
	case v.CanFloat():
		return constant.MakeFloat64(v.Float())
	}
	return nil
}
