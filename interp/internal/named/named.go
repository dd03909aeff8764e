package named

import (
	"fmt"
	"go/token"
	"hash/fnv"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

// Type is a type that is being made.
type Type struct {
	pkg   Package
	name  string
	t, p  *header // descriptors of the type and of the pointer to it
	kind  reflect.Kind
	room  int // number of methods for which there is room
	stubs []int
	equal func(a, b unsafe.Pointer) bool // for an opaque type
}

// Package is the package of a type.
type Package struct{ Path, Name string }

// Method is an exported method.
type Method struct {
	Name    string
	Type    reflect.Type // without receiver
	Pointer bool         // the type itself does not have the method, only pointers to it
	// Call runs the method. The receiver is always a pointer to the type.
	Call func(recv unsafe.Pointer, args []reflect.Value) []reflect.Value
}

// Field is a field of a struct type.
type Field struct {
	Name     string
	Type     reflect.Type
	Tag      reflect.StructTag
	Embedded bool
	Exported bool // as package reflect reports it, whatever the name is
}

// New starts a type with the kind and memory layout of layout and room for a number of methods. The
// name of a type without a package is name alone.
func New(pkg Package, name string, layout reflect.Type, methods int) *Type {
	params := 0
	if layout.Kind() == reflect.Func {
		params = layout.NumIn() + layout.NumOut()
	}
	n := &Type{pkg: pkg, name: name, kind: layout.Kind(), room: methods}
	n.t = n.allocate(n.kind, params)
	n.p = n.allocate(reflect.Pointer, 0)
	// The runtime keeps everything that has an offset for ever.
	ptr := offsetOf(n.p)
	offsetOf(n.t)
	n.copyHeader(headerOf(layout))
	n.t.ptrToThis = ptr
	*n.p = *headerOf(reflect.TypeFor[*int]())
	n.p.str, n.p.hash, n.p.ptrToThis = n.nameOffset("*"+n.String(), false), n.sum("*"), 0
	n.p.flags = n.p.flags&(flagDirect|flagRegularMemory) | flagUncommon
	(*elemType)(unsafe.Pointer(n.p)).elem = n.t
	n.setUncommon(n.p, reflect.Pointer, 0, 0, 0)
	n.setUncommon(n.t, n.kind, 0, 0, params)
	return n
}

// String returns package reflect's name for the type.
func (n *Type) String() string {
	if n.pkg.Name == "" {
		return n.name
	}
	return n.pkg.Name + "." + n.name
}

// Reflect returns the type.
func (n *Type) Reflect() reflect.Type { return typeOf(n.t) }

// allocate allocates a descriptor and the data after it. The memory is typed, for the garbage
// collector.
func (n *Type) allocate(k reflect.Kind, params int) *header {
	t := reflect.StructOf([]reflect.StructField{
		{Name: "Descriptor", Type: descriptor(k)},
		{Name: "Uncommon", Type: reflect.TypeFor[uncommon]()},
		{Name: "Params", Type: reflect.ArrayOf(params, reflect.TypeFor[*header]())},
		{Name: "Methods", Type: reflect.ArrayOf(n.room, reflect.TypeFor[method]())},
	})
	return (*header)(reflect.New(t).UnsafePointer())
}

func uncommonOf(h *header, k reflect.Kind) *uncommon {
	return (*uncommon)(unsafe.Add(unsafe.Pointer(h), descriptor(k).Size()))
}

func (n *Type) setUncommon(h *header, k reflect.Kind, methods, visible, params int) *uncommon {
	u := uncommonOf(h, k)
	u.pkgPath = n.nameOffset(n.pkg.Path, false)
	u.methods, u.visible = uint16(methods), uint16(visible)
	u.offset = uint32(unsafe.Sizeof(uncommon{}) + uintptr(params)*unsafe.Sizeof(h))
	return u
}

func (n *Type) nameOffset(s string, exported bool) int32 {
	return addReflectOff(unsafe.Pointer(name(s, "", exported, false)))
}

func (n *Type) sum(prefix string) uint32 {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s%s %p", prefix, n, n.t)
	return h.Sum32()
}

// copyHeader copies layout and behaviour of another type and keeps the name.
func (n *Type) copyHeader(from *header) {
	ptr := n.t.ptrToThis
	*n.t = *from
	n.t.ptrToThis = ptr
	n.t.flags = n.t.flags&^flagExtraStar | flagNamed | flagUncommon
	if n.t.str = n.nameOffset(n.String(), token.IsExported(n.name)); n.t.hash == from.hash {
		n.t.hash = n.sum("")
	}
}

// Complete sets the parts of a type that is not a struct, from its underlying type.
func (n *Type) Complete(underlying reflect.Type) {
	from := headerOf(underlying)
	if underlying.Kind() != n.kind || from.size != n.t.size {
		panic(fmt.Sprintf("named: %s is a %s and not a %s", n, n.kind, underlying))
	}
	n.copyHeader(from)
	if t := descriptors[n.kind]; t != nil {
		rest := unsafe.Sizeof(header{})
		copyWords(unsafe.Add(unsafe.Pointer(n.t), rest), unsafe.Add(unsafe.Pointer(from), rest), t, rest)
	}
	if n.kind == reflect.Func {
		params := underlying.NumIn() + underlying.NumOut()
		in := unsafe.Slice((**header)(unsafe.Add(unsafe.Pointer(uncommonOf(n.t, n.kind)), unsafe.Sizeof(uncommon{}))), params)
		for i := range params {
			if i < underlying.NumIn() {
				in[i] = headerOf(underlying.In(i))
			} else {
				in[i] = headerOf(underlying.Out(i - underlying.NumIn()))
			}
		}
	}
}

// copyWords copies the part of a descriptor of type t that begins at offset.
func copyWords(to, from unsafe.Pointer, t reflect.Type, offset uintptr) {
	for i := 1; i < t.NumField(); i++ {
		f := t.Field(i)
		at := f.Offset - offset
		reflect.NewAt(f.Type, unsafe.Add(to, at)).Elem().Set(reflect.NewAt(f.Type, unsafe.Add(from, at)).Elem())
	}
}

// CompleteStruct is Complete for a struct type.
func (n *Type) CompleteStruct(fields []Field) {
	plain := make([]reflect.StructField, len(fields))
	for i, f := range fields {
		plain[i] = reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: f.Type}
	}
	layout := reflect.StructOf(plain)
	from := headerOf(layout)
	if n.kind != reflect.Struct || from.size != n.t.size {
		panic(fmt.Sprintf("named: %s has %d bytes and not %d", n, n.t.size, from.size))
	}
	n.copyHeader(from)
	st := (*structType)(unsafe.Pointer(n.t))
	st.pkgPath = name(n.pkg.Path, "", false, false)
	st.fields = slices.Clone((*structType)(unsafe.Pointer(from)).fields)
	for i, f := range fields {
		st.fields[i].name = name(f.Name, string(f.Tag), f.Exported, f.Embedded)
	}
	mend(n.Reflect(), func(string) bool { return false })
}

// SetFieldType changes the type of field i of a struct type that was made at run time, to one of
// the same kind and size.
func SetFieldType(t reflect.Type, i int, field reflect.Type) {
	(*structType)(unsafe.Pointer(headerOf(t))).fields[i].typ = headerOf(field)
}

// CompleteOpaque is CompleteStruct for a type whose values are compared by equal and all have the
// same hash: the fields of layout become blank fields.
func (n *Type) CompleteOpaque(layout reflect.Type, equal func(a, b unsafe.Pointer) bool) {
	fields := make([]Field, layout.NumField())
	for i := range fields {
		fields[i] = Field{Name: "_", Type: layout.Field(i).Type}
	}
	n.CompleteStruct(fields)
	n.t.flags &^= flagRegularMemory
	n.equal = equal
	n.t.equal = func(a, b unsafe.Pointer) bool { return n.equal(a, b) }
}

func sortMethods(methods []Method) {
	slices.SortFunc(methods, func(a, b Method) int { return strings.Compare(a.Name, b.Name) })
}

// Methods gives the type its methods. It fails if there are too many in the process.
func (n *Type) Methods(methods []Method) error {
	if len(methods) == 0 {
		return nil
	}
	if len(methods) > n.room {
		return fmt.Errorf("named: %s has room for %d methods", n, n.room)
	}
	sortMethods(methods)
	byValue := 0
	params := int(uncommonOf(n.t, n.kind).offset-uint32(unsafe.Sizeof(uncommon{}))) / int(unsafe.Sizeof(n.t))
	values := unsafe.Slice((*method)(unsafe.Add(unsafe.Pointer(uncommonOf(n.t, n.kind)), uncommonOf(n.t, n.kind).offset)), n.room)
	pointers := unsafe.Slice((*method)(unsafe.Add(unsafe.Pointer(uncommonOf(n.p, reflect.Pointer)), unsafe.Sizeof(uncommon{}))), n.room)
	for i, m := range methods {
		call := m.Call
		code, err := n.stubOffset(reflect.MakeFunc(withReceiver(reflect.TypeFor[unsafe.Pointer](), m.Type),
			func(args []reflect.Value) []reflect.Value {
				return call(args[0].UnsafePointer(), args[1:])
			}))
		if err != nil {
			return err
		}
		pointers[i] = method{name: n.nameOffset(m.Name, true), typ: offsetOf(headerOf(m.Type)), ifn: code, tfn: code}
		if m.Pointer {
			continue
		}
		values[byValue] = pointers[i]
		// A call through reflect.Type passes the value itself.
		if values[byValue].tfn, err = n.stubOffset(reflect.MakeFunc(withReceiver(n.Reflect(), m.Type),
			func(args []reflect.Value) []reflect.Value {
				recv := reflect.New(args[0].Type())
				recv.Elem().Set(args[0])
				return call(recv.UnsafePointer(), args[1:])
			})); err != nil {
			return err
		}
		if n.t.flags&flagDirect != 0 { // the receiver is the value
			if values[byValue].ifn, err = n.stubOffset(reflect.MakeFunc(withReceiver(reflect.TypeFor[unsafe.Pointer](), m.Type),
				func(args []reflect.Value) []reflect.Value {
					recv := args[0].UnsafePointer()
					return call(unsafe.Pointer(&recv), args[1:])
				})); err != nil {
				return err
			}
		}
		byValue++
	}
	n.setUncommon(n.p, reflect.Pointer, len(methods), len(methods), 0)
	n.setUncommon(n.t, n.kind, byValue, byValue, params)
	return nil
}

// withReceiver adds a receiver to the parameters of a function type.
func withReceiver(recv, t reflect.Type) reflect.Type {
	in, out := []reflect.Type{recv}, []reflect.Type(nil)
	for p := range t.Ins() {
		in = append(in, p)
	}
	for p := range t.Outs() {
		out = append(out, p)
	}
	return reflect.FuncOf(in, out, t.IsVariadic())
}

func (n *Type) stubOffset(f reflect.Value) (int32, error) {
	number, err := stub(f)
	if err != nil {
		return 0, err
	}
	n.stubs = append(n.stubs, number)
	return addReflectOff(stubCode(number)), nil
}

// Release frees the functions of the type, which are its methods and that which compares values, and
// everything that they refer to. No value of the type may exist any more.
func (n *Type) Release() {
	release(n.stubs)
	n.stubs, n.equal = nil, nil
}

// Check returns an error if types cannot be made in this process.
var Check = sync.OnceValue(func() error {
	if err := checkSizes(); err != nil {
		return err
	}
	n := New(Package{"check", "check"}, "Type", reflect.TypeFor[struct{ next *int }](), 1)
	n.CompleteStruct([]Field{{Name: "next", Type: reflect.PointerTo(n.Reflect()), Tag: `k:"v"`}})
	said := 0
	err := n.Methods([]Method{{Name: "String", Type: reflect.TypeFor[func() string](), Pointer: true,
		Call: func(unsafe.Pointer, []reflect.Value) []reflect.Value {
			said++
			return []reflect.Value{reflect.ValueOf("said")}
		}}})
	if err != nil {
		return err
	}
	t := n.Reflect()
	v, ok := reflect.New(t).Interface().(fmt.Stringer)
	switch {
	case t.String() != "check.Type", t.Name() != "Type", t.PkgPath() != "check", t.NumMethod() != 0:
	case t.NumField() != 1, t.Field(0).Name != "next", t.Field(0).Tag != `k:"v"`, t.Field(0).Type.Elem() != t, t.Size() != 8:
	case reflect.PointerTo(t).String() != "*check.Type", reflect.PointerTo(t).NumMethod() != 1:
	case !ok, v.String() != "said", said != 1:
	default:
		return checkAssertion()
	}
	return fmt.Errorf("named: type descriptors are not those of this Go release")
})
