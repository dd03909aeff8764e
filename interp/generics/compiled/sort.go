package compiled

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"unsafe"
)

// Sort sorts a slice, whose elements are of any ordered type, in ascending order. NaNs come first.
func Sort(x any) {
	v := reflect.ValueOf(x)
	switch v.Type().Elem().Kind() {
	case reflect.Int:
		sort[int](v)
	case reflect.Int8:
		sort[int8](v)
	case reflect.Int16:
		sort[int16](v)
	case reflect.Int32:
		sort[int32](v)
	case reflect.Int64:
		sort[int64](v)
	case reflect.Uint:
		sort[uint](v)
	case reflect.Uint8:
		sort[uint8](v)
	case reflect.Uint16:
		sort[uint16](v)
	case reflect.Uint32:
		sort[uint32](v)
	case reflect.Uint64:
		sort[uint64](v)
	case reflect.Uintptr:
		sort[uintptr](v)
	case reflect.Float32:
		sort[float32](v)
	case reflect.Float64:
		sort[float64](v)
	case reflect.String:
		sort[string](v)
	default:
		panic(fmt.Sprintf("compiled.Sort: %T has no order", x))
	}
}

// sort sorts a slice of a type whose underlying type is E.
func sort[E cmp.Ordered](v reflect.Value) {
	slices.Sort(unsafe.Slice((*E)(v.UnsafePointer()), v.Len()))
}
