package interp

import (
	"fmt"
	"go/types"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/symmrepl/symmrepl/interp/internal/named"
)

// Yaegi's values do not know the names and methods of their types. So a value that becomes an interface of compiled code, any included, becomes a
// native one: of a type made at run time (package named) that has the name, the fields and the methods that Go would give it. What compiled
// code finds out about it by reflection, assertion or method call is then right by itself.
//
// A native type has the memory layout of yaegi's, so that conversion either way is a matter of seeing the same memory as another
// type, and slices, maps and pointers are shared. The one thing that yaegi lays out in a way of its own is an interface type of cells that has
// methods: a struct of its own, called a box. A box is printed, encoded and compared as what it holds (boxes.go).

// natives makes the native types of a session.
type natives struct {
	in *Interp

	boxed atomic.Bool // there are types of boxes

	mu      sync.Mutex
	types   map[string]types.Type   // by key; see lowerer.valueKey
	native  map[string]reflect.Type // of those, as made
	made    map[view][]*native
	by      map[reflect.Type]*native // named ones
	cells   map[reflect.Type]types.Type
	methods map[*types.TypeName][]*methods

	implementations map[string][]implementation // of interface types, by key
}

// release gives up all types: nothing may have a value of one any more.
func (n *natives) release() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, list := range n.made {
		for _, made := range list {
			made.made.Release()
		}
	}
}

// methods are those of a type of a cell: functions whose first parameter is the receiver, as a pointer.
type methods struct {
	typ *types.Named
	fns map[string]reflect.Value
}

// native is a type of a cell as compiled code sees it: a named one, or one with boxes in it that has no name.
type native struct {
	typ  types.Type
	made *named.Type
}

// view tells the native types of a type of cells apart. A bare one is of what is in fields that are not exported, where printing calls no methods.
type view struct {
	origin *types.TypeName // nil for types without a name
	bare   bool
}

func newNatives(in *Interp) *natives {
	return &natives{
		in: in, types: map[string]types.Type{}, native: map[string]reflect.Type{}, made: map[view][]*native{},
		by: map[reflect.Type]*native{}, cells: map[reflect.Type]types.Type{}, methods: map[*types.TypeName][]*methods{}, implementations: map[string][]implementation{},
	}
}

// note remembers the type of values that will be converted under a key.
func (n *natives) note(key string, t types.Type) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.types[key] = t
}

// noted returns the type of a key.
func (n *natives) noted(key string) types.Type {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.types[key]
}

// typeOfKey returns the native type of a key's type.
func (n *natives) typeOfKey(key string) reflect.Type {
	n.mu.Lock()
	r := n.native[key]
	t := n.types[key]
	n.mu.Unlock()
	if r == nil {
		r = n.typeOf(t)
		n.mu.Lock()
		n.native[key] = r
		n.mu.Unlock()
	}
	return r
}

// textOf returns what Go calls the type of a key.
func (n *natives) textOf(key string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.reflectType(n.types[key], false).String()
}

// typeOf returns the native type of t. Values of it are told by it from then on.
func (n *natives) typeOf(t types.Type) reflect.Type {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := n.reflectType(t, false)
	if n.cells[r] == nil && n.by[r] == nil {
		n.cells[r] = t
	}
	return r
}

// addMethod gives the type of a key a method. If the type has been used already without it, it is made again.
func (n *natives) addMethod(key, name string, fn any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := n.types[key].(*types.Named)
	m := n.methodsOf(t)
	if m == nil {
		m = &methods{t, map[string]reflect.Value{}}
		n.methods[t.Origin().Obj()] = append(n.methods[t.Origin().Obj()], m)
	}
	if _, again := m.fns[name]; !again && n.find(view{origin: t.Origin().Obj()}, t) != nil {
		clear(n.made)
		clear(n.native)
	}
	m.fns[name] = reflect.ValueOf(fn)
}

func (n *natives) methodsOf(t *types.Named) *methods {
	for _, m := range n.methods[t.Origin().Obj()] {
		if types.Identical(m.typ, t) {
			return m
		}
	}
	return nil
}

// cellType returns the type that a native type stands for, nil if it is not a native one.
func (n *natives) cellType(r reflect.Type) types.Type {
	n.mu.Lock()
	defer n.mu.Unlock()
	if t := n.cells[r]; t != nil {
		return t
	}
	switch {
	case n.by[r] != nil:
		return n.by[r].typ
	case r.Kind() == reflect.Pointer && n.by[r.Elem()] != nil:
		return types.NewPointer(n.by[r.Elem()].typ)
	}
	return nil
}

// cellTypeOf does it for a value, which may be none.
func (n *natives) cellTypeOf(v reflect.Value) types.Type {
	if !v.IsValid() {
		return nil
	}
	return n.cellType(v.Type())
}

// reflectType makes the native type of t.
func (n *natives) reflectType(t types.Type, bare bool) reflect.Type {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		return n.namedType(t, bare)
	case *types.Basic:
		return basicType(t)
	case *types.Pointer:
		return reflect.PointerTo(n.reflectType(t.Elem(), false)) // printed as an address
	case *types.Slice:
		return reflect.SliceOf(n.reflectType(t.Elem(), bare))
	case *types.Array:
		return reflect.ArrayOf(int(t.Len()), n.reflectType(t.Elem(), bare))
	case *types.Map:
		return reflect.MapOf(n.reflectType(t.Key(), bare), n.reflectType(t.Elem(), bare))
	case *types.Chan:
		return reflect.ChanOf(chanDir(t.Dir()), n.reflectType(t.Elem(), false))
	case *types.Signature:
		return n.funcType(t)
	case *types.Struct:
		return n.structType(t, bare)
	case *types.Interface:
		return n.interfaceType(t, bare)
	}
	panic(fmt.Sprintf("values of type %s cannot be given to compiled code", typeName(t)))
}

func basicType(t *types.Basic) reflect.Type { return basicReflect[t.Kind()] }

func chanDir(d types.ChanDir) reflect.ChanDir {
	switch d {
	case types.SendOnly:
		return reflect.SendDir
	case types.RecvOnly:
		return reflect.RecvDir
	}
	return reflect.BothDir
}

func (n *natives) funcType(t *types.Signature) reflect.Type {
	var in, out []reflect.Type
	for v := range t.Params().Variables() {
		in = append(in, n.reflectType(v.Type(), false))
	}
	for v := range t.Results().Variables() {
		out = append(out, n.reflectType(v.Type(), false))
	}
	return reflect.FuncOf(in, out, t.Variadic())
}

// structType makes a struct type that has no name. Reflect does not embed types that are not exported; nobody can tell but by looking for that.
func (n *natives) structType(t *types.Struct, bare bool) reflect.Type {
	if n.holdsBoxes(t) {
		return n.make(t, "", n.structText(t), bare, nil)
	}
	fields := make([]reflect.StructField, t.NumFields())
	for i := range fields {
		f := t.Field(i)
		fields[i] = reflect.StructField{Name: f.Name(), Type: n.reflectType(f.Type(), bare), Tag: reflect.StructTag(t.Tag(i))}
		if !f.Exported() {
			fields[i].PkgPath = cellPackage
		}
	}
	return reflect.StructOf(fields)
}

func (n *natives) interfaceType(t *types.Interface, bare bool) reflect.Type {
	if t.NumMethods() == 0 {
		return reflect.TypeFor[any]()
	}
	return n.make(t, "", n.interfaceText(t), bare, nil)
}

// compiled returns the compiled type that a named type is, nil for a cell's.
func (n *natives) compiled(t *types.Named) reflect.Type {
	if t.Obj().Pkg() == nil {
		return errorReflect
	}
	return n.in.pkgs.compiled(t.Obj())
}

// namedType makes the native type of a named type.
func (n *natives) namedType(t *types.Named, bare bool) reflect.Type {
	if r := n.compiled(t); r != nil {
		return r
	}
	methods := n.methodSet(t)
	if bare {
		methods = nil
	}
	return n.make(t, t.Obj().Pkg().Path(), n.nameOf(t), bare, methods)
}

// make makes a type that has a name for reflect, unless it has been made.
func (n *natives) make(t types.Type, pkg, name string, bare bool, methods []*types.Selection) reflect.Type {
	key := view{bare: bare}
	if t, ok := t.(*types.Named); ok {
		key.origin = t.Origin().Obj()
	}
	if made := n.find(key, t); made != nil {
		return made.made.Reflect()
	}
	u := t.Underlying()
	made := &native{t, named.New(pkg, name, n.layout(u, true), max(len(methods), boxRoom))}
	r := made.made.Reflect()
	n.made[key] = append(n.made[key], made)
	n.by[r] = made
	var list []named.Method
	switch u := u.(type) {
	case *types.Struct:
		made.made.CompleteStruct(n.fields(u, bare))
	case *types.Interface:
		if u.NumMethods() > 0 {
			n.boxed.Store(true)
			made.made.CompleteOpaque(n.in.inside.boxes, n.equalBoxes)
			list = n.boxMethods(r, bare)
		} else {
			made.made.Complete(n.reflectType(u, bare))
		}
	default:
		made.made.Complete(n.reflectType(u, bare))
	}
	for _, m := range methods {
		list = append(list, n.method(t.(*types.Named), m))
	}
	if err := made.made.Methods(list); err != nil {
		panic(err)
	}
	return r
}

// find returns what has been made of a type, nil if nothing has.
func (n *natives) find(key view, t types.Type) *native {
	for _, made := range n.made[key] {
		if types.Identical(made.typ, t) {
			return made
		}
	}
	return nil
}

// fields are those of a struct type. Printing calls no methods of what is in fields that are not exported, and those of boxes have to be called: so such fields
// are exported, under their names, if there are boxes in them.
func (n *natives) fields(u *types.Struct, bare bool) []named.Field {
	fields := make([]named.Field, u.NumFields())
	for i := range fields {
		f := u.Field(i)
		t := f.Type()
		field := named.Field{Name: f.Name(), Tag: reflect.StructTag(u.Tag(i)), Embedded: f.Embedded(), Exported: f.Exported() && !bare}
		_, promotes := t.Underlying().(*types.Struct)
		switch {
		case !n.holdsBoxes(t), f.Embedded() && promotes && !bare:
			field.Type = n.reflectType(t, false)
		case field.Exported:
			field.Type, field.Embedded = n.reflectType(t, false), false
		default:
			field.Type, field.Embedded, field.Exported = n.reflectType(t, true), false, true
			field.Tag = notEncoded + field.Tag
		}
		fields[i] = field
	}
	return fields
}

// nameOf is the name of a type without its package; type arguments are written with theirs.
func (n *natives) nameOf(t *types.Named) string {
	name := t.Obj().Name()
	if t.TypeArgs().Len() == 0 {
		return name
	}
	var args []string
	for a := range t.TypeArgs().Types() {
		args = append(args, types.TypeString(a, nil))
	}
	return name + "[" + strings.Join(args, ",") + "]"
}

// layout returns a type of the kind and memory layout of what underlies a type, which need not be complete. What is only part of another is of no more than the
// same layout.
func (n *natives) layout(t types.Type, top bool) reflect.Type {
	if named, ok := types.Unalias(t).(*types.Named); ok {
		if r := n.compiled(named); r != nil {
			return r
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return basicType(u)
	case *types.Slice:
		return reflect.TypeFor[[]byte]()
	case *types.Array:
		return reflect.ArrayOf(int(u.Len()), n.layout(u.Elem(), false))
	case *types.Struct:
		fields := make([]reflect.StructField, u.NumFields())
		for i := range fields {
			fields[i] = reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: n.layout(u.Field(i).Type(), false)}
		}
		return reflect.StructOf(fields)
	case *types.Interface:
		if u.NumMethods() == 0 {
			return reflect.TypeFor[any]()
		}
		return n.in.inside.boxes
	case *types.Map:
		if top {
			return reflect.TypeFor[map[int]int]()
		}
	case *types.Chan:
		if top {
			return reflect.TypeFor[chan int]()
		}
	case *types.Pointer:
		if top {
			return reflect.TypeFor[*int]()
		}
	case *types.Signature:
		if top {
			repeat := func(count int) []reflect.Type {
				list := make([]reflect.Type, count)
				for i := range list {
					list[i] = reflect.TypeFor[int]()
				}
				return list
			}
			return reflect.FuncOf(repeat(u.Params().Len()), repeat(u.Results().Len()), false)
		}
	}
	return reflect.TypeFor[unsafe.Pointer]()
}

// method makes a method of a native type, which calls the cell's.
func (n *natives) method(of *types.Named, m *types.Selection) named.Method {
	fn := m.Obj().(*types.Func)
	sig := m.Type().(*types.Signature)
	_, byPointer := m.Recv().(*types.Pointer)
	call := n.methodsOf(of).fns[fn.Name()]
	results := make([]reflect.Type, sig.Results().Len())
	for i := range results {
		results[i] = n.reflectType(sig.Results().At(i).Type(), false)
	}
	return named.Method{Name: fn.Name(), Type: n.funcType(sig), Pointer: byPointer,
		Call: func(recv unsafe.Pointer, args []reflect.Value) []reflect.Value {
			in := make([]reflect.Value, 1+len(args))
			in[0] = reflect.NewAt(call.Type().In(0).Elem(), recv)
			for i, a := range args {
				in[i+1] = seenAs(a, call.Type().In(i+1))
			}
			var out []reflect.Value
			if sig.Variadic() {
				out = call.CallSlice(in)
			} else {
				out = call.Call(in)
			}
			for i := range out {
				out[i] = seenAs(out[i], results[i])
			}
			return out
		}}
}

// methodSet lists the exported methods of a type and of pointers to it that the session has functions for. Those that values have, have a receiver
// that is no pointer.
func (n *natives) methodSet(t *types.Named) []*types.Selection {
	own := n.methodsOf(t)
	if own == nil {
		return nil
	}
	values := types.NewMethodSet(t)
	var list []*types.Selection
	for m := range types.NewMethodSet(types.NewPointer(t)).Methods() {
		if v := values.Lookup(m.Obj().Pkg(), m.Obj().Name()); v != nil {
			m = v
		}
		if own.fns[m.Obj().Name()].IsValid() {
			list = append(list, m)
		}
	}
	return list
}

// seenAs returns v as a value of type t, which has the same memory layout. If v is a variable so is the result, and the same one.
func seenAs(v reflect.Value, t reflect.Type) reflect.Value {
	switch {
	case v.Type() == t:
		return v
	case v.Type().Size() != t.Size() || v.Kind() != t.Kind():
		panic(fmt.Sprintf("a %s is no %s", v.Type(), t))
	case !v.CanAddr():
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		v = c
	}
	return reflect.NewAt(t, v.Addr().UnsafePointer()).Elem()
}
