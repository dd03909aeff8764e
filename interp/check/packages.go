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
	"unsafe"

	"github.com/symmrepl/symmrepl/interp/generics"
)

// Packages gives go/types the packages that cells may import. It builds them by reflection from the tables that the
// interpreter runs with, so that what checks is what runs and no Go installation is needed. A package is built when it is
// first imported; types are shared, so identity holds across packages.
type Packages struct {
	tables map[string]map[string]reflect.Value // by import path
	names  map[string]string                   // package name by import path
	built  map[string]*types.Package           // packages made so far, complete or only holding referenced types
	owners map[string]string                   // by import path of an internal package: see owner
	types  map[reflect.Type]types.Type
	named  sync.Map // the way back: reflect.Type by *types.TypeName; running cells read it

	fset    *token.FileSet
	sources map[types.Object]*Generic // what packages have in source
}

func newPackages(fset *token.FileSet, tables map[string]map[string]reflect.Value) *Packages {
	p := &Packages{
		tables: map[string]map[string]reflect.Value{},
		names:  map[string]string{},
		built:  map[string]*types.Package{"unsafe": types.Unsafe},
		owners: map[string]string{},
		types:  map[reflect.Type]types.Type{},

		fset:    fset,
		sources: map[types.Object]*Generic{},
	}
	for key, table := range tables {
		// A key is the import path and the package name: "math/rand/rand".
		if dir := path.Dir(key); dir != "." && dir != "/" && !strings.HasPrefix(dir, yaegiPath) {
			p.tables[dir], p.names[dir] = table, path.Base(key)
		}
	}
	return p
}

// yaegiPath begins the import paths of packages whose tables yaegi brings and no cell has a use for.
const yaegiPath = "github.com/traefik/"

// Import implements types.Importer.
func (p *Packages) Import(importPath string) (*types.Package, error) {
	table, ok := p.tables[importPath]
	files, inSource := generics.Source(importPath)
	if !ok && !inSource {
		return nil, &unknownPackage{importPath}
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

// unknownPackage says that no table has the package.
type unknownPackage struct{ path string }

func (e *unknownPackage) Error() string {
	return "package " + e.path + " is not available in cells"
}

// HasType reports whether the table of its package has a type under its name.
func (p *Packages) HasType(obj *types.TypeName) bool {
	v, ok := p.tables[obj.Pkg().Path()][obj.Name()]
	return ok && v.Kind() == reflect.Pointer && v.IsNil()
}

func (p *Packages) Package(importPath string) *types.Package {
	importPath = p.owner(importPath)
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

// owner is the package that cells take the package at importPath for: itself, or the package that it is internal to and that
// exports types of it by aliases.
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

// object turns a table entry into the object it stands for: a nil pointer is a type, a constant.Value an untyped constant,
// an addressable value a variable, a function a function, and anything else a typed constant.
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

var basicKinds = map[reflect.Kind]types.BasicKind{
	reflect.Bool: types.Bool, reflect.Int: types.Int, reflect.Int8: types.Int8, reflect.Int16: types.Int16,
	reflect.Int32: types.Int32, reflect.Int64: types.Int64, reflect.Uint: types.Uint, reflect.Uint8: types.Uint8,
	reflect.Uint16: types.Uint16, reflect.Uint32: types.Uint32, reflect.Uint64: types.Uint64,
	reflect.Uintptr: types.Uintptr, reflect.Float32: types.Float32, reflect.Float64: types.Float64,
	reflect.Complex64: types.Complex64, reflect.Complex128: types.Complex128, reflect.String: types.String,
	reflect.UnsafePointer: types.UnsafePointer,
}

// basicReflect are the predeclared types.
var basicReflect = map[types.BasicKind]reflect.Type{
	types.Bool: reflect.TypeFor[bool](), types.Int: reflect.TypeFor[int](), types.Int8: reflect.TypeFor[int8](), types.Int16: reflect.TypeFor[int16](),
	types.Int32: reflect.TypeFor[int32](), types.Int64: reflect.TypeFor[int64](), types.Uint: reflect.TypeFor[uint](), types.Uint8: reflect.TypeFor[uint8](),
	types.Uint16: reflect.TypeFor[uint16](), types.Uint32: reflect.TypeFor[uint32](), types.Uint64: reflect.TypeFor[uint64](),
	types.Uintptr: reflect.TypeFor[uintptr](), types.Float32: reflect.TypeFor[float32](), types.Float64: reflect.TypeFor[float64](),
	types.Complex64: reflect.TypeFor[complex64](), types.Complex128: reflect.TypeFor[complex128](), types.String: reflect.TypeFor[string](),
	types.UnsafePointer: reflect.TypeFor[unsafe.Pointer](),
}

// BasicType returns a predeclared type.
func BasicType(t *types.Basic) reflect.Type { return basicReflect[t.Kind()] }

var errorReflect = reflect.TypeFor[error]()

// TypeOf converts a reflected type.
func (p *Packages) TypeOf(t reflect.Type) types.Type {
	if typ, ok := p.types[t]; ok {
		return typ
	}
	if t == errorReflect {
		return types.Universe.Lookup("error").Type()
	}
	if t.Name() != "" && t.PkgPath() != "" {
		return p.namedOf(t)
	}
	typ := p.underlying(t)
	p.types[t] = typ
	return typ
}

// Compiled returns the compiled type that a named type stands for, nil if it is none.
func (p *Packages) Compiled(obj *types.TypeName) reflect.Type {
	t, _ := p.named.Load(obj)
	r, _ := t.(reflect.Type)
	return r
}

// CompiledNamed returns the compiled type that a named type is, nil for a cell's.
func (p *Packages) CompiledNamed(t *types.Named) reflect.Type {
	if t.Obj().Pkg() == nil {
		return errorReflect
	}
	return p.Compiled(t.Obj())
}

// HoldsInterfaces reports whether there are values of cells' interface types that have methods in the memory of values of type t, elements of slices and maps
// included.
func (p *Packages) HoldsInterfaces(t types.Type) bool {
	seen := map[types.Type]bool{}
	var holds func(t types.Type) bool
	holds = func(t types.Type) bool {
		t = types.Unalias(t)
		if named, ok := t.(*types.Named); ok {
			if seen[t] || p.CompiledNamed(named) != nil {
				return false
			}
			seen[t] = true
		}
		switch u := t.Underlying().(type) {
		case *types.Interface:
			return u.NumMethods() > 0
		case *types.Struct:
			for f := range u.Fields() {
				if holds(f.Type()) {
					return true
				}
			}
		case *types.Map:
			return holds(u.Key()) || holds(u.Elem())
		case *types.Array:
			return holds(u.Elem())
		case *types.Slice:
			return holds(u.Elem())
		}
		return false
	}
	return holds(t)
}

func (p *Packages) namedOf(t reflect.Type) types.Type {
	if inst := p.instanceOf(t); inst != nil {
		p.types[t] = inst
		return inst
	}
	pkg := p.Package(t.PkgPath())
	obj := types.NewTypeName(token.NoPos, pkg, t.Name(), nil)
	named := types.NewNamed(obj, nil, nil)
	p.types[t] = named
	p.named.Store(obj, t)
	hidden := pkg.Path() != t.PkgPath() && !p.exports(pkg.Path(), t) // the owner does not export it
	if token.IsExported(t.Name()) && !hidden && pkg.Scope().Lookup(t.Name()) == nil && !strings.Contains(t.Name(), "[") {
		pkg.Scope().Insert(obj)
	}
	named.SetUnderlying(p.underlying(t).Underlying())
	if t.Kind() == reflect.Interface {
		return named
	}
	ptr := reflect.PointerTo(t)
	for m := range ptr.Methods() {
		recv := types.Type(types.NewPointer(named))
		if _, byValue := t.MethodByName(m.Name); byValue {
			recv = named
		}
		sig := p.signature(m.Type, 1, types.NewVar(token.NoPos, pkg, "", recv))
		named.AddMethod(types.NewFunc(token.NoPos, pkg, m.Name, sig))
	}
	p.seal(named, t)
	return named
}

func (p *Packages) underlying(t reflect.Type) types.Type {
	if k, ok := basicKinds[t.Kind()]; ok {
		return types.Typ[k]
	}
	switch t.Kind() {
	case reflect.Pointer:
		return types.NewPointer(p.TypeOf(t.Elem()))
	case reflect.Slice:
		return types.NewSlice(p.TypeOf(t.Elem()))
	case reflect.Array:
		return types.NewArray(p.TypeOf(t.Elem()), int64(t.Len()))
	case reflect.Map:
		return types.NewMap(p.TypeOf(t.Key()), p.TypeOf(t.Elem()))
	case reflect.Chan:
		dir := map[reflect.ChanDir]types.ChanDir{reflect.BothDir: types.SendRecv, reflect.SendDir: types.SendOnly, reflect.RecvDir: types.RecvOnly}
		return types.NewChan(dir[t.ChanDir()], p.TypeOf(t.Elem()))
	case reflect.Func:
		return p.signature(t, 0, nil)
	case reflect.Struct:
		return p.structOf(t)
	}
	var methods []*types.Func
	for m := range t.Methods() {
		pkg := p.Package(cmpPath(m.PkgPath, t.PkgPath()))
		methods = append(methods, types.NewFunc(token.NoPos, pkg, m.Name, p.signature(m.Type, 0, nil)))
	}
	return types.NewInterfaceType(methods, nil).Complete()
}

func cmpPath(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (p *Packages) signature(t reflect.Type, skip int, recv *types.Var) *types.Signature {
	var in, out []*types.Var
	for i := skip; i < t.NumIn(); i++ {
		in = append(in, types.NewParam(token.NoPos, nil, "", p.TypeOf(t.In(i))))
	}
	for o := range t.Outs() {
		out = append(out, types.NewParam(token.NoPos, nil, "", p.TypeOf(o)))
	}
	return types.NewSignatureType(recv, nil, nil, types.NewTuple(in...), types.NewTuple(out...), t.IsVariadic())
}

// structOf keeps exported and embedded fields. Cells cannot name the others: they become one blank field that is comparable
// exactly when the struct is.
func (p *Packages) structOf(t reflect.Type) types.Type {
	var fields []*types.Var
	var tags []string
	hidden := false
	for f := range t.Fields() {
		if !f.IsExported() && !f.Anonymous {
			hidden = true
			continue
		}
		pkg := p.Package(cmpPath(f.PkgPath, t.PkgPath()))
		fields = append(fields, types.NewField(token.NoPos, pkg, f.Name, p.TypeOf(f.Type), f.Anonymous))
		tags = append(tags, string(f.Tag))
	}
	if hidden {
		var blank types.Type = types.Typ[types.Int]
		if !t.Comparable() {
			blank = types.NewSignatureType(nil, nil, nil, nil, nil, false)
		}
		fields = append(fields, types.NewField(token.NoPos, p.Package(t.PkgPath()), "_", blank, false))
		tags = append(tags, "")
	}
	return types.NewStruct(fields, tags)
}

// seal gives a named type the methods by which its package's interfaces recognise their own: those without an exported name, such
// as that of symmem's options. Reflection does not list them, but knows which types implement the interface.
func (p *Packages) seal(named *types.Named, t reflect.Type) {
	pkg := named.Obj().Pkg()
	for _, v := range p.tables[pkg.Path()] {
		if !v.IsValid() || v.Kind() != reflect.Pointer || v.Type().Elem().Kind() != reflect.Interface || !v.IsNil() {
			continue
		}
		sealed := v.Type().Elem()
		if !reflect.PointerTo(t).Implements(sealed) {
			continue
		}
		recv := types.Type(types.NewPointer(named))
		if t.Implements(sealed) {
			recv = named
		}
		for m := range sealed.Methods() {
			if m.PkgPath == "" || methodNamed(named, m.Name) != nil {
				continue
			}
			sig := p.signature(m.Type, 0, types.NewVar(token.NoPos, pkg, "", recv))
			named.AddMethod(types.NewFunc(token.NoPos, p.Package(m.PkgPath), m.Name, sig))
		}
	}
}
