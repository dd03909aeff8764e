//lint:file-ignore U1000 the fields are those of the runtime

package named

import (
	"reflect"
	"unsafe"
)

// The descriptors of types, as in internal/abi. That of maps is not the same in all releases:
// abi_go126.go, abi_go127.go.
type (
	header struct {
		size, ptrBytes                 uintptr
		hash                           uint32
		flags, align, fieldAlign, kind uint8
		equal                          func(unsafe.Pointer, unsafe.Pointer) bool
		gcData                         *byte
		str, ptrToThis                 int32
	}
	arrayType struct {
		header
		elem, slice *header
		len         uintptr
	}
	chanType struct {
		header
		elem *header
		dir  int
	}
	funcType struct {
		header
		in, out uint16
	}
	interfaceType struct {
		header
		pkgPath *byte
		methods []interfaceMethod
	}
	elemType struct { // for pointers and slices
		header
		elem *header
	}
	structType struct {
		header
		pkgPath *byte
		fields  []structField
	}
	structField struct {
		name   *byte
		typ    *header
		offset uintptr
	}
	interfaceMethod struct{ name, typ int32 }
	uncommon        struct {
		pkgPath          int32
		methods, visible uint16
		offset, _        uint32
	}
	method struct{ name, typ, ifn, tfn int32 }
)

const (
	flagUncommon = 1 << iota
	flagExtraStar
	flagNamed
	flagRegularMemory // values are compared and hashed as bytes
	_
	flagDirect // values are stored in interfaces directly
)

// descriptors has the Go types of the descriptors by kind; the descriptor of a basic type is a
// header.
var descriptors = map[reflect.Kind]reflect.Type{
	reflect.Array: reflect.TypeFor[arrayType](), reflect.Chan: reflect.TypeFor[chanType](), reflect.Func: reflect.TypeFor[funcType](),
	reflect.Interface: reflect.TypeFor[interfaceType](), reflect.Map: reflect.TypeFor[mapType](),
	reflect.Pointer: reflect.TypeFor[elemType](),
	reflect.Slice:   reflect.TypeFor[elemType](), reflect.Struct: reflect.TypeFor[structType](),
}

func descriptor(k reflect.Kind) reflect.Type {
	if t := descriptors[k]; t != nil {
		return t
	}
	return reflect.TypeFor[header]()
}

// headerOf returns the descriptor of t.
func headerOf(t reflect.Type) *header {
	return (*header)((*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1])
}

// typeOf returns the type of a descriptor.
func typeOf(h *header) reflect.Type {
	var sample any = 0
	(*[2]unsafe.Pointer)(unsafe.Pointer(&sample))[0] = unsafe.Pointer(h)
	return reflect.TypeOf(sample)
}

// name encodes the name of a type, field or method.
func name(s, tag string, exported, embedded bool) *byte {
	b := []byte{0}
	if exported {
		b[0] |= 1
	}
	if embedded {
		b[0] |= 8
	}
	b = appendText(b, s)
	if tag != "" {
		b[0] |= 2
		b = appendText(b, tag)
	}
	return &b[0]
}

func appendText(b []byte, s string) []byte {
	n := len(s)
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(append(b, byte(n)), s...)
}

//go:linkname addReflectOff reflect.addReflectOff
func addReflectOff(unsafe.Pointer) int32

func offsetOf[T any](p *T) int32 { return addReflectOff(unsafe.Pointer(p)) }
