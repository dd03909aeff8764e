package yaegi

import (
	"reflect"
	"unsafe"
)

// Value is a reflect.Value. Frames have one for each variable. Unless its kind is a pointer or the
// like, a Value in a frame holds a pointer to the variable.
type Value struct {
	typ, ptr unsafe.Pointer
	flag     uintptr
}

// Parts of a flag: the kind, whether the Value comes from an unexported field, has a pointer to the
// variable, is a variable, and is a method of the value in it.
const (
	kindMask = 1<<5 - 1
	readOnly = 1<<5 | 1<<6
	indirect = 1 << 7
	variable = 1 << 8
	method   = 1 << 9
)

// header is the beginning of a slice or string.
type header struct {
	data unsafe.Pointer
	len  int
}

func asType(t reflect.Type) unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1] }

func valueOf(v *reflect.Value) *Value { return (*Value)(unsafe.Pointer(v)) }

func (v *Value) reflect() *reflect.Value { return (*reflect.Value)(unsafe.Pointer(v)) }

// Reflect returns the value as a reflect.Value.
func (v *Value) Reflect() reflect.Value { return *v.reflect() }

// reflected returns values as reflect.Values.
func reflected(list []Value) []reflect.Value { return *(*[]reflect.Value)(unsafe.Pointer(&list)) }

// Set replaces the value at a place.
func (v *Value) Set(to reflect.Value) { *v = *valueOf(&to) }

// Function returns the address of a function value, which is not the address of its code. Ok is
// false if v is not a function.
func (v *Value) Function() (f *byte, ok bool) {
	switch {
	case !v.is(reflect.Func):
		return nil, false
	case v.flag&indirect != 0:
		return *(**byte)(v.ptr), true
	}
	return (*byte)(v.ptr), true
}

// FunctionOf returns the address of a function value, as Value.Function does.
func FunctionOf(v reflect.Value) (f *byte, ok bool) { return valueOf(&v).Function() }

// isOf reports whether v is a plain value of a type.
func (v *Value) isOf(typ unsafe.Pointer) bool { return v.typ == typ && v.flag&(readOnly|method) == 0 }

// address returns the address of the value.
func (v *Value) address() unsafe.Pointer {
	if v.flag&indirect == 0 {
		return unsafe.Pointer(&v.ptr)
	}
	return v.ptr
}

// anyType is the type any.
var anyType = asType(reflect.TypeFor[any]())

// any returns the value in an interface.
func (v *Value) any() any {
	var held any
	switch scalarSize[v.flag&kindMask] {
	case 8:
		held = *(*uint64)(v.address())
	case 4:
		held = *(*uint32)(v.address())
	case 2:
		held = *(*uint16)(v.address())
	case 1:
		held = *(*uint8)(v.address())
	default:
		return v.reflect().Interface()
	}
	*(*unsafe.Pointer)(unsafe.Pointer(&held)) = v.typ
	return held
}

func (v *Value) is(kind reflect.Kind) bool { return v.flag&kindMask == uintptr(kind) }

func (v *Value) isInt() bool { return v.is(reflect.Int) }

func (v *Value) isVariable(kind reflect.Kind) bool {
	return v.flag&(kindMask|variable) == uintptr(kind)|variable
}

func (v *Value) int() *int { return (*int)(v.ptr) }

// integer returns an int, byte or rune.
func (v *Value) integer() (n int, ok bool) {
	switch reflect.Kind(v.flag & kindMask) {
	case reflect.Int:
		return *(*int)(v.ptr), true
	case reflect.Uint8:
		return int(*(*uint8)(v.ptr)), true
	case reflect.Int32:
		return int(*(*int32)(v.ptr)), true
	}
	return 0, false
}

// count returns the count of a shift. Ok is false if it is negative or not a number.
func (v *Value) count() (n uint64, ok bool) {
	switch reflect.Kind(v.flag & kindMask) {
	case reflect.Int, reflect.Int64:
		n := *(*int64)(v.ptr)
		return uint64(n), n >= 0
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return *(*uint64)(v.ptr), true
	case reflect.Uint32:
		return uint64(*(*uint32)(v.ptr)), true
	case reflect.Uint8:
		return uint64(*(*uint8)(v.ptr)), true
	}
	return 0, false
}

// scalarSize has the sizes of numbers and bools, by kind; 0 for other kinds.
var scalarSize = [kindMask + 1]uint8{
	reflect.Bool: 1, reflect.Int8: 1, reflect.Int16: 2, reflect.Int32: 4, reflect.Int64: 8, reflect.Int: 8, reflect.Uint8: 1,
	reflect.Uint16: 2,
	reflect.Uint32: 4, reflect.Uint64: 8, reflect.Uint: 8, reflect.Uintptr: 8, reflect.Float32: 4, reflect.Float64: 8,
}

// scalar returns the bits of a number or bool; setScalar sets them.
func (v *Value) scalar() uint64 {
	switch scalarSize[v.flag&kindMask] {
	case 8:
		return *(*uint64)(v.ptr)
	case 4:
		return uint64(*(*uint32)(v.ptr))
	case 2:
		return uint64(*(*uint16)(v.ptr))
	}
	return uint64(*(*uint8)(v.ptr))
}

func (v *Value) setScalar(bits uint64) {
	switch scalarSize[v.flag&kindMask] {
	case 8:
		*(*uint64)(v.ptr) = bits
	case 4:
		*(*uint32)(v.ptr) = uint32(bits)
	case 2:
		*(*uint16)(v.ptr) = uint16(bits)
	default:
		*(*uint8)(v.ptr) = uint8(bits)
	}
}

// copy sets a variable to another value of its type. It returns false if that is not a number or
// bool.
func (v *Value) copy(from *Value) bool {
	if v.typ != from.typ || v.flag&variable == 0 || scalarSize[v.flag&kindMask] == 0 {
		return false
	}
	v.setScalar(from.scalar())
	return true
}
