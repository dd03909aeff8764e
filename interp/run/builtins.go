package run

import (
	"fmt"
	"os"
	"reflect"
	"strconv"
	"unsafe"
)

// printArgs is the builtin print, which puts nothing between its arguments.
func printArgs(args ...any) { os.Stderr.Write(appendArgs(nil, "", args)) }

// printlnArgs is the builtin println.
func printlnArgs(args ...any) { os.Stderr.Write(append(appendArgs(nil, " ", args), '\n')) }

func appendArgs(b []byte, between string, args []any) []byte {
	for i, a := range args {
		if i > 0 {
			b = append(b, between...)
		}
		b = appendPrinted(b, reflect.ValueOf(a))
	}
	return b
}

// appendPrinted appends a value as the builtin print writes it: without calling methods, and
// references as addresses. For an interface, args has the text that interfaceWords returned.
func appendPrinted(b []byte, v reflect.Value) []byte {
	switch {
	case !v.IsValid():
		return append(b, "0x0"...)
	case v.Kind() == reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case v.CanInt():
		return strconv.AppendInt(b, v.Int(), 10)
	case v.CanUint():
		return strconv.AppendUint(b, v.Uint(), 10)
	case v.CanFloat():
		return strconv.AppendFloat(b, v.Float(), 'g', -1, v.Type().Bits())
	case v.CanComplex():
		return append(b, strconv.FormatComplex(v.Complex(), 'g', -1, v.Type().Bits())...)
	case v.Kind() == reflect.String:
		return append(b, v.String()...)
	case v.Kind() == reflect.Slice:
		b = fmt.Appendf(b, "[%d/%d]", v.Len(), v.Cap())
	}
	return fmt.Appendf(b, "%#x", v.Pointer())
}

// interfaceWords returns the text that the builtin print writes for the interface variable *x: the
// addresses of the type and of the value.
func (rt *Runtime) interfaceWords(x any) string {
	var words [2]uintptr
	if held := rt.Natives.Held(reflect.ValueOf(x).Elem()); held.IsValid() {
		i := held.Interface()
		words = *(*[2]uintptr)(unsafe.Pointer(&i))
	}
	return fmt.Sprintf("(%#x,%#x)", words[0], words[1])
}

// runesOf returns the runes of a string and the offsets at which they begin.
func runesOf(s string) (at []int, runes []rune) {
	at, runes = make([]int, 0, len(s)), make([]rune, 0, len(s))
	for i, r := range s {
		at, runes = append(at, i), append(runes, r)
	}
	return at, runes
}

// zero sets the variable that pointer points to to its zero value.
func zero(pointer any) { reflect.ValueOf(pointer).Elem().SetZero() }
