package faults

import (
	"reflect"
	"runtime"
	"strings"
)

// Error is a fault of the code of a cell, worded as Go does.
type Error string

func (e Error) Error() string { return string(e) }

// RuntimeError marks an Error as a runtime.Error.
func (Error) RuntimeError() {}

// NilDereference is the fault of code that follows a nil pointer.
const NilDereference Error = "runtime error: invalid memory address or nil pointer dereference"

// Unsupported is the panic of valid Go code that compiled code would run differently than Go does.
// Its text suggests an alternative.
type Unsupported string

func (u Unsupported) Error() string { return string(u) }

// Of returns the runtime error that Go would panic with, if v is package reflect's or yaegi's
// panic for it, and v itself otherwise.
func Of(v any) any {
	var text string
	switch v := v.(type) {
	case *reflect.ValueError:
		if v.Kind == reflect.Invalid {
			return NilDereference
		}
	case runtime.Error:
		text = v.Error()
	case string:
		text = v
	}
	if e := faultOf(text); e != "" {
		return e
	}
	return v
}

// faultOf returns the runtime error for a panic text of package reflect, or "" if there is none.
func faultOf(text string) Error {
	switch text {
	case "reflect: slice index out of range",
		"reflect: array index out of range",
		"reflect: string index out of range":
		return "runtime error: index out of range"
	case "reflect.Value.Slice: slice index out of bounds",
		"reflect.Value.Slice3: slice index out of bounds",
		"reflect.Value.Slice: string slice index out of bounds":
		return "runtime error: slice bounds out of range"
	case "reflect.Value.Call: call of nil function",
		"reflect: Call using zero Value argument", // the target of a nil pointer
		"reflect: CallSlice using zero Value argument",
		"reflect: indirection through nil pointer to embedded struct",
		"reflect: Method on nil interface value":
		return NilDereference
	case "reflect.Value.Grow: slice overflow":
		return "runtime error: growslice: len out of range"
	case "reflect.MakeSlice: negative len", "runtime: allocation size out of range":
		return "runtime error: makeslice: len out of range"
	case "reflect.MakeSlice: negative cap",
		"reflect.MakeSlice: len > cap":
		return "runtime error: makeslice: cap out of range"
	case "reflect.MakeChan: negative buffer size":
		return "makechan: size out of range"
	}
	if rest, ok := strings.CutPrefix(text, "reflect: cannot convert slice with length "); ok {
		have, _, _ := strings.Cut(rest, " ")
		_, want, _ := strings.Cut(rest, "array")
		return Error("runtime error: cannot convert slice with length " + have + " to array or pointer to array" + want)
	}
	if rest, ok := strings.CutPrefix(text, "hash of unhashable type: "); ok {
		return Error("runtime error: hash of unhashable type " + rest)
	}
	return ""
}
