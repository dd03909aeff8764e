package run

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/symmrepl/symmrepl/interp/run/faults"
)

// Helpers for package unsafe. They take pointers to variables.

// unsafePointer sets *to to the address in *from. One of the two is an unsafe.Pointer, the other a
// variable of a pointer type.
func unsafePointer(to, from any) {
	p := reflect.ValueOf(from).Elem().UnsafePointer()
	if v := reflect.ValueOf(to).Elem(); v.Kind() == reflect.UnsafePointer {
		v.SetPointer(p)
	} else {
		v.Set(reflect.NewAt(v.Type().Elem(), p).Convert(v.Type()))
	}
}

// unsafeOfUintptr is unsafe.Pointer(n). Go's runtime ends a process in which it finds a pointer
// into the first page, which is never mapped.
func unsafeOfUintptr(n uintptr) unsafe.Pointer {
	if n > 0 && n < 4096 {
		panic(faults.Unsupported(fmt.Sprintf("%#x is the address of nothing, and cannot be an unsafe.Pointer in cells; keep it as a uintptr", n)))
	}
	return *(*unsafe.Pointer)(unsafe.Pointer(&n))
}

// unsafeUintptr is uintptr(p).
func unsafeUintptr(p unsafe.Pointer) uintptr { return uintptr(p) }

// unsafeAdd is unsafe.Add.
func unsafeAdd(p unsafe.Pointer, n int64) unsafe.Pointer { return unsafe.Add(p, n) }

// unsafeSlice sets *to to unsafe.Slice of the pointer *from.
func unsafeSlice(to, from any, n int64) {
	v, p := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	size := int64(v.Type().Elem().Size())
	switch {
	case n < 0 || size > 0 && n > (1<<47)/size:
		panic(faults.Error("runtime error: unsafe.Slice: len out of range"))
	case p.IsNil() && n > 0:
		panic(faults.Error("runtime error: unsafe.Slice: ptr is nil and len is not zero"))
	case !p.IsNil():
		v.Set(reflect.SliceAt(v.Type().Elem(), p.UnsafePointer(), int(n)).Convert(v.Type()))
	}
}

// unsafeSliceData sets *to to unsafe.SliceData of the slice *from.
func unsafeSliceData(to, from any) {
	v, s := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	if !s.IsNil() {
		v.Set(reflect.NewAt(v.Type().Elem(), s.UnsafePointer()))
	}
}

// unsafeString is unsafe.String.
func unsafeString(p *byte, n int64) string {
	switch {
	case n < 0 || n > 1<<47:
		panic(faults.Error("runtime error: unsafe.String: len out of range"))
	case p == nil && n > 0:
		panic(faults.Error("runtime error: unsafe.String: ptr is nil and len is not zero"))
	}
	return unsafe.String(p, n)
}

// unsafeStringData is unsafe.StringData.
func unsafeStringData(s string) *byte { return unsafe.StringData(s) }
