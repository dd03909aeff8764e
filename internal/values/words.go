package values

import (
	"fmt"
	"reflect"
)

// Shorten cuts a text that is longer than a printed value may be.
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

// Say calls an Error or String method. If that panics, the text says so and ok is false; cause, unless nil, returns what the method panicked with, given what was
// recovered.
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

// Words returns what v says of itself by its own method, or by that of a pointer to it, shortened. It returns false if there is no such method, or v is nil.
func Words(v reflect.Value, cause func(any) any) (text string, ok bool) {
	if !v.CanInterface() || IsNil(v) {
		return "", false
	}
	say := Sayer(v)
	if say == nil && v.CanAddr() {
		say = Sayer(v.Addr())
	}
	if say == nil {
		return "", false
	}
	text, _ = Say(say, cause)
	return Shorten(text), true
}

// IsNil reports whether v is nil; values of types that have no nil are not.
func IsNil(v reflect.Value) bool { return nillable(v) && v.IsNil() }

func nillable(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan, reflect.Interface, reflect.UnsafePointer:
		return true
	}
	return false
}

// Pointed returns what a pointer type without a name points to, and any other type as it is.
func Pointed(t reflect.Type) reflect.Type {
	if t.Name() == "" && t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}
