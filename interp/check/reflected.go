package check

import (
	"cmp"
	"go/token"
	"go/types"
	"reflect"
	"strings"
	"unsafe"
)

var basicKinds = map[reflect.Kind]types.BasicKind{
	reflect.Bool: types.Bool, reflect.Int: types.Int, reflect.Int8: types.Int8, reflect.Int16: types.Int16,
	reflect.Int32: types.Int32, reflect.Int64: types.Int64, reflect.Uint: types.Uint, reflect.Uint8: types.Uint8,
	reflect.Uint16: types.Uint16, reflect.Uint32: types.Uint32, reflect.Uint64: types.Uint64,
	reflect.Uintptr: types.Uintptr, reflect.Float32: types.Float32, reflect.Float64: types.Float64,
	reflect.Complex64: types.Complex64, reflect.Complex128: types.Complex128, reflect.String: types.String,
	reflect.UnsafePointer: types.UnsafePointer,
}

// basicReflect has the basic types.
var basicReflect = map[types.BasicKind]reflect.Type{
	types.Bool: reflect.TypeFor[bool](), types.Int: reflect.TypeFor[int](), types.Int8: reflect.TypeFor[int8](),
	types.Int16: reflect.TypeFor[int16](),
	types.Int32: reflect.TypeFor[int32](), types.Int64: reflect.TypeFor[int64](), types.Uint: reflect.TypeFor[uint](),
	types.Uint8:  reflect.TypeFor[uint8](),
	types.Uint16: reflect.TypeFor[uint16](), types.Uint32: reflect.TypeFor[uint32](), types.Uint64: reflect.TypeFor[uint64](),
	types.Uintptr: reflect.TypeFor[uintptr](), types.Float32: reflect.TypeFor[float32](), types.Float64: reflect.TypeFor[float64](),
	types.Complex64: reflect.TypeFor[complex64](), types.Complex128: reflect.TypeFor[complex128](), types.String: reflect.TypeFor[string](),
	types.UnsafePointer: reflect.TypeFor[unsafe.Pointer](),
}

var errorReflect = reflect.TypeFor[error]()

// BasicType returns the reflect type of a basic type.
func BasicType(t *types.Basic) reflect.Type { return basicReflect[t.Kind()] }

// TypeOf converts a reflect type.
func (p *Packages) TypeOf(t reflect.Type) types.Type {
	if typ, ok := p.types[t]; ok {
		return typ
	}
	if t == errorReflect {
		return types.Universe.Lookup("error").Type()
	}
	// its name and package path look like those of any other type
	if t == basicReflect[types.UnsafePointer] {
		return types.Typ[types.UnsafePointer]
	}
	if t.Name() != "" && t.PkgPath() != "" {
		return p.namedOf(t)
	}
	typ := p.underlying(t)
	p.types[t] = typ
	return typ
}

// Compiled returns the compiled type for which a named type stands, or nil.
func (p *Packages) Compiled(obj *types.TypeName) reflect.Type {
	t, _ := p.named.Load(obj)
	r, _ := t.(reflect.Type)
	return r
}

// CompiledNamed returns the compiled type for which a named type stands, also for error, or nil for
// a type of cells.
func (p *Packages) CompiledNamed(t *types.Named) reflect.Type {
	if t.Obj().Pkg() == nil {
		return errorReflect
	}
	return p.Compiled(t.Obj())
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
		dir := map[reflect.ChanDir]types.ChanDir{reflect.BothDir: types.SendRecv, reflect.SendDir: types.SendOnly,
			reflect.RecvDir: types.RecvOnly}
		return types.NewChan(dir[t.ChanDir()], p.TypeOf(t.Elem()))
	case reflect.Func:
		return p.signature(t, 0, nil)
	case reflect.Struct:
		return p.structOf(t)
	}
	var methods []*types.Func
	for m := range t.Methods() {
		pkg := p.Package(cmp.Or(m.PkgPath, t.PkgPath()))
		methods = append(methods, types.NewFunc(token.NoPos, pkg, m.Name, p.signature(m.Type, 0, nil)))
	}
	return types.NewInterfaceType(methods, nil).Complete()
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

// structOf keeps exported and embedded fields. Cells cannot name the other fields: they are
// replaced by one blank field that is comparable if and only if the struct is.
func (p *Packages) structOf(t reflect.Type) types.Type {
	var fields []*types.Var
	var tags []string
	hidden := false
	for f := range t.Fields() {
		if !f.IsExported() && !f.Anonymous {
			hidden = true
			continue
		}
		pkg := p.Package(cmp.Or(f.PkgPath, t.PkgPath()))
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

// seal adds to a named type the unexported methods of its package's interfaces that it implements,
// for example the method of symmem's options. Reflection does not list these methods, but knows
// which types implement an interface.
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

// HoldsInterfaces reports whether values of type t contain values of interface types with methods
// that cells declare: in fields, or in elements of arrays, slices and maps.
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
