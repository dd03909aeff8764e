package values

import (
	"fmt"
	"reflect"
)

// Shorten cuts a text that exceeds the length limit of a printed value.
func Shorten(s string) string {
	if len(s) <= maxText {
		return s
	}
	return s[:maxText] + "…"
}

// Sayer returns the method by which v describes itself, Error or String; nil if there is none.
func Sayer(v reflect.Value) func() string {
	switch x := v.Interface().(type) {
	case error:
		return x.Error
	case fmt.Stringer:
		return x.String
	}
	return nil
}

// Say calls an Error or String method. If the method panics, the text says so and ok is false;
// cause, unless nil, converts the recovered value to the value that the method panicked with.
func Say(say func() string, cause func(any) any) (text string, ok bool) {
	defer func() {
		if v := recover(); v != nil {
			if cause != nil {
				v = cause(v)
			}
			text = fmt.Sprintf("<String method panicked: %v>", v)
		}
	}()
	return say(), true
}

// Method returns the method by which v, or a pointer to it, describes itself. It returns nil if there
// is no such method, or v is nil.
func Method(v reflect.Value) func() string {
	if !v.CanInterface() || IsNil(v) {
		return nil
	}
	say := Sayer(v)
	if say == nil && v.CanAddr() {
		say = Sayer(v.Addr())
	}
	return say
}

// IsNil reports whether v is nil; it returns false for values of types without nil.
func IsNil(v reflect.Value) bool { return nillable(v) && v.IsNil() }

func nillable(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan, reflect.Interface, reflect.UnsafePointer:
		return true
	}
	return false
}

// Pointed returns the element type of an unnamed pointer type, and any other type unchanged.
func Pointed(t reflect.Type) reflect.Type {
	if t.Name() == "" && t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}
