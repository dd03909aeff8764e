package run

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
)

// Yaegi's values do not know the names and methods of their types. So a value that becomes an interface of compiled code, any included, becomes a
// native one: of a type made at run time (package named) that has the name, the fields and the methods that Go would give it. So
// reflection, assertions and method calls in compiled code find what Go would have them find.
//
// A native type has the memory layout of yaegi's, so that conversion either way is a matter of seeing the same memory as another
// type, and slices, maps and pointers are shared. The exception is an interface type of cells that has
// methods: yaegi lays it out as a struct of its own, called a box. A box is printed, encoded and compared as what it holds (boxes.go).

// natives makes the native types of a session.
type natives struct {
	yaegi    *yaegi.Interpreter
	packages func() *check.Packages

	boxed atomic.Bool // there are types of boxes

	mu      sync.Mutex
	types   map[string]types.Type          // by key; as package lower writes them
	local   map[*types.TypeName]InFunction // those that functions declare
	native  map[string]reflect.Type        // of those, as made
	made    map[view][]*native
	by      map[reflect.Type]*native // named ones
	cells   map[reflect.Type]types.Type
	methods map[*types.TypeName][]*methods

	implementations map[string][]implementation // of interface types, by key
	recursive       []*named.Type               // see recursivetypes.go

	released map[*types.TypeName]weak.Pointer[released] // see oldtypes.go
	gone     map[*types.TypeName]bool                   // types that are gone, of which there may be keys
}

// release frees all native types. No value of any of them may exist.
func (n *natives) release() {
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

// methods are the methods of a type of cells, as functions whose first parameter is a pointer to the receiver.
type methods struct {
	typ *types.Named
	fns map[string]reflect.Value
}

// native is a type of a cell as compiled code sees it: a named one, or one with boxes in it that has no name.
type native struct {
	typ  types.Type
	made *named.Type
}

// view selects one of the native types that a type of cells has. The bare one is for values in fields that are not exported, where printing calls no methods.
type view struct {
	origin *types.TypeName // nil for types without a name
	bare   bool
}

func newNatives(y *yaegi.Interpreter, packages func() *check.Packages) *natives {
	return &natives{
		yaegi: y, packages: packages, types: map[string]types.Type{}, local: map[*types.TypeName]InFunction{}, native: map[string]reflect.Type{}, made: map[view][]*native{},
		by: map[reflect.Type]*native{}, cells: map[reflect.Type]types.Type{}, methods: map[*types.TypeName][]*methods{}, implementations: map[string][]implementation{},
		released: map[*types.TypeName]weak.Pointer[released]{}, gone: map[*types.TypeName]bool{},
	}
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

// typeOf returns the native type of t. From then on cellType finds t by it.
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
	n.hold(t.Origin().Obj())
	for _, m := range n.methods[t.Origin().Obj()] {
		if types.Identical(m.typ, t) {
			return m
		}
	}
	return nil
}

// cellType returns the type of cells that a native type was made for, nil if it is not a native type.
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

// cellTypeOf returns the type of cells that a native value has, nil if v is none.
func (n *natives) cellTypeOf(v reflect.Value) types.Type {
	if !v.IsValid() {
		return nil
	}
	return n.cellType(v.Type())
}

// make returns the native type of t with a name for reflection, which it makes unless it has been made.
func (n *natives) make(t types.Type, pkg *types.Package, name string, bare bool, methods []*types.Selection) reflect.Type {
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

// find returns what has been made of a type, nil if nothing has.
func (n *natives) find(key view, t types.Type) *native {
	for _, made := range n.made[key] {
		if types.Identical(made.typ, t) {
			return made
		}
	}
	return nil
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

// methodSet lists the exported methods of a type and of pointers to it that the session has functions for. Methods of values have a receiver that is no
// pointer.
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

// seenAs returns v as a value of type t, which has the same memory layout. If v is addressable, the result is the same variable.
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

// implementation is a type that implements an interface type of cells, and the function from the one to the other.
type implementation struct {
	typ  types.Type
	into reflect.Value
}

// addImplementation notes the function from the type of a key to an interface type of cells.
func (n *natives) addImplementation(typ, iface string, into any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.implementations[iface] = append(n.implementations[iface], implementation{n.types[typ], reflect.ValueOf(into)})
}

// implementation returns how a value of a cell's type becomes one of an interface type, an invalid value if its type does not implement that.
func (n *natives) implementation(t types.Type, iface string) reflect.Value {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, i := range n.implementations[iface] {
		if types.Identical(i.typ, t) {
			return i.into
		}
	}
	return reflect.Value{}
}

// valueMethod returns the error for a method of a type.
func valueMethod(fn *types.Func, t types.Type) runtimeError {
	of := types.Unalias(t).(*types.Named)
	name := PlainNames(of.Obj().Name())
	if of.TypeArgs() != nil {
		name += "[...]"
	}
	return runtimeError("value method " + fn.Pkg().Path() + "." + name + "." + fn.Name() + " called using nil *" + name + " pointer")
}
