package native

import (
	"fmt"
	"go/types"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/internal/named"
	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
	"github.com/symmrepl/symmrepl/interp/run/contract"
	"github.com/symmrepl/symmrepl/interp/run/faults"
)

// Yaegi's values do not know the names and methods of their types. So a value that is converted to
// an interface (any included) for compiled code becomes a native value: a value of a type made at
// run time (package named) with the name, the fields and the methods that Go would give it.
// Reflection, assertions and method calls in compiled code then work as in Go.
//
// A native type has the memory layout of yaegi's type. A conversion either way views the same
// memory as another type, and slices, maps and pointers are shared. The exception is an interface
// type with methods that a cell declares: yaegi lays it out as a struct, called a box. A box is
// printed, encoded and compared as the value in it (boxes.go).

// Types are the native types of a session.
type Types struct {
	yaegi   *yaegi.Interpreter
	checker func() *check.Checker

	boxed atomic.Bool // whether any type has boxes

	mu      sync.Mutex
	types   map[string]types.Type                   // by key, as package lower writes it
	local   map[*types.TypeName]contract.InFunction // the types that functions declare
	native  map[string]reflect.Type                 // native types by key
	made    map[view][]*native
	by      map[reflect.Type]*native // native types with names
	cells   map[reflect.Type]types.Type
	methods map[*types.TypeName][]*methods

	// implementations of interface types, by the interface's key
	implementations map[string][]implementation
	recursive       []*named.Type // see recursivetypes.go

	released map[*types.TypeName]weak.Pointer[released] // see oldtypes.go
	// types that are gone but may still have keys in the maps above
	gone map[*types.TypeName]bool
}

// Free frees all native types. No value of any of them may exist.
func (n *Types) Free() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, list := range n.made {
		for _, made := range list {
			made.made.Release()
		}
	}
	for _, t := range n.recursive {
		t.Release()
	}
}

// methods has the methods of a type of cells, as functions whose first parameter is a pointer to
// the receiver.
type methods struct {
	typ *types.Named
	fns map[string]reflect.Value
}

// native is a type of a cell as compiled code sees it: a named type, or an unnamed type that
// contains boxes.
type native struct {
	typ  types.Type
	made *named.Type
}

// view selects one of the native types of a type of cells. Fields that are not exported have values
// of the bare type, for which printing calls no methods.
type view struct {
	origin *types.TypeName // nil for types without a name
	bare   bool
}

// New returns the native types of a session without any; checker returns the session's checker.
func New(y *yaegi.Interpreter, checker func() *check.Checker) *Types {
	return &Types{
		yaegi: y, checker: checker, types: map[string]types.Type{}, local: map[*types.TypeName]contract.InFunction{},
		native: map[string]reflect.Type{}, made: map[view][]*native{},
		by: map[reflect.Type]*native{}, cells: map[reflect.Type]types.Type{}, methods: map[*types.TypeName][]*methods{},
		implementations: map[string][]implementation{},
		released:        map[*types.TypeName]weak.Pointer[released]{}, gone: map[*types.TypeName]bool{},
	}
}

// noted returns the type with the key.
func (n *Types) noted(key string) types.Type {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.types[key]
}

// typeOfKey returns the native type of the type with the key.
func (n *Types) typeOfKey(key string) reflect.Type {
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

// textOf returns Go's name for the type with the key.
func (n *Types) textOf(key string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.reflectType(n.types[key], false).String()
}

// typeOf returns the native type of t. From then on, cellType maps the native type to t.
func (n *Types) typeOf(t types.Type) reflect.Type {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := n.reflectType(t, false)
	if n.cells[r] == nil && n.by[r] == nil {
		n.cells[r] = t
	}
	return r
}

// AddMethod gives the type with the key a method. If a native type without the method exists,
// native types are made again.
func (n *Types) AddMethod(key, name string, fn any) {
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

func (n *Types) methodsOf(t *types.Named) *methods {
	n.hold(t.Origin().Obj())
	for _, m := range n.methods[t.Origin().Obj()] {
		if types.Identical(m.typ, t) {
			return m
		}
	}
	return nil
}

// cellType returns the type of cells for which a native type was made, or nil if r is not a native
// type.
func (n *Types) cellType(r reflect.Type) types.Type {
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

// CellType returns the type of cells of a native value, or nil if v is not one.
func (n *Types) CellType(v reflect.Value) types.Type {
	if !v.IsValid() {
		return nil
	}
	return n.cellType(v.Type())
}

// make returns the native type of t, with a name for reflection. It makes the type if it does not
// exist.
func (n *Types) make(t types.Type, pkg *types.Package, name string, bare bool, methods []*types.Selection) reflect.Type {
	key := view{bare: bare}
	if t, ok := t.(*types.Named); ok {
		key.origin = t.Origin().Obj()
		n.hold(key.origin)
	}
	if made := n.find(key, t); made != nil {
		return made.made.Reflect()
	}
	u := t.Underlying()
	var of named.Package
	if pkg != nil {
		of = named.Package{Path: pkg.Path(), Name: pkg.Name()}
	}
	made := &native{t, named.New(of, name, n.layout(u, true), max(len(methods), boxRoom))}
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
			made.made.CompleteOpaque(n.yaegi.Boxes(), n.equalBoxes)
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

// find returns the native type made for t, or nil.
func (n *Types) find(key view, t types.Type) *native {
	for _, made := range n.made[key] {
		if types.Identical(made.typ, t) {
			return made
		}
	}
	return nil
}

// method returns a method of a native type that calls the cell's method.
func (n *Types) method(of *types.Named, m *types.Selection) named.Method {
	fn := m.Obj().(*types.Func)
	sig := m.Type().(*types.Signature)
	_, byPointer := m.Recv().(*types.Pointer)
	call := n.methodsOf(of).fns[fn.Name()]
	results := make([]reflect.Type, sig.Results().Len())
	for i := range results {
		results[i] = n.reflectType(sig.Results().At(i).Type(), false)
	}
	own := len(m.Index()) == 1
	return named.Method{Name: fn.Name(), Type: n.funcType(sig), Pointer: byPointer,
		Call: func(recv unsafe.Pointer, args []reflect.Value) []reflect.Value {
			if recv == nil && own && !byPointer {
				panic(valueMethod(fn, of))
			}
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

// methodSet lists the exported methods of a type, and of pointers to it, for which the session has
// functions. For methods of values the receiver is not a pointer.
func (n *Types) methodSet(t *types.Named) []*types.Selection {
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

// seenAs returns v as a value of type t, which has the same memory layout. If v is addressable, the
// result is the same variable.
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

// implementation is a type that implements an interface type of cells, and the function that
// converts values of the type to the interface.
type implementation struct {
	typ  types.Type
	into reflect.Value
}

// AddImplementation registers the function that converts values of type typ to an interface type of
// cells; both are given as keys.
func (n *Types) AddImplementation(typ, iface string, into any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.implementations[iface] = append(n.implementations[iface], implementation{n.types[typ], reflect.ValueOf(into)})
}

// implementation returns the function that converts a value of a cell's type to an interface type,
// or an invalid value if the type does not implement the interface.
func (n *Types) implementation(t types.Type, iface string) reflect.Value {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, i := range n.implementations[iface] {
		if types.Identical(i.typ, t) {
			return i.into
		}
	}
	return reflect.Value{}
}

// valueMethod returns the error of calling a value method through a nil pointer.
func valueMethod(fn *types.Func, t types.Type) faults.Error {
	of := types.Unalias(t).(*types.Named)
	name := contract.PlainNames(of.Obj().Name())
	if of.TypeArgs() != nil {
		name += "[...]"
	}
	return faults.Error("value method " + fn.Pkg().Path() + "." + name + "." + fn.Name() + " called using nil *" + name + " pointer")
}

// CalledWithNil returns the error of calling a method through an interface that holds a nil pointer of
// type t, or "" if the call panics in another way or not at all.
func (n *Types) CalledWithNil(t *types.Pointer, method string) faults.Error {
	m, index, _ := types.LookupFieldOrMethod(t, false, n.checker().Package(), method)
	fn, isFunc := m.(*types.Func)
	if !isFunc || len(index) != 1 || check.IsPointer(fn.Signature().Recv().Type()) {
		return ""
	}
	return valueMethod(fn, t.Elem())
}
