package named

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// Package reflect compares structs field by field. Compiled code ignores blank fields, and first
// compares what is fast to compare: the bytes of strings, and the values in interfaces, come last.
// The difference matters for memory that cannot be read, and for bytes that package unsafe wrote
// into blank fields.

// MendEqual makes struct types that package reflect made compare their values like compiled types.
// It applies to t, to the element type if t is an array, pointer, map and so on, and to the types
// of fields. Blank reports whether a field is blank, by its name; fields named _ are always blank.
func MendEqual(t reflect.Type, blank func(name string) bool) {
	switch {
	case t.Kind() == reflect.Struct:
		mend(t, blank)
	case t.Name() != "":
	case t.Kind() == reflect.Map:
		MendEqual(t.Key(), blank)
		MendEqual(t.Elem(), blank)
		if plain := withBlanks(t.Key(), blank); plain != t.Key() {
			hashed := headerOf(reflect.MapOf(plain, t.Elem()))
			(*mapType)(unsafe.Pointer(headerOf(t))).hasher = (*mapType)(unsafe.Pointer(hashed)).hasher
		}
	case t.Kind() == reflect.Array, t.Kind() == reflect.Slice, t.Kind() == reflect.Chan, t.Kind() == reflect.Pointer:
		MendEqual(t.Elem(), blank)
		mend(t, blank)
	}
}

// mend is MendEqual for a struct or array type and its parts.
func mend(t reflect.Type, blank func(name string) bool) {
	h := headerOf(t)
	switch {
	case h.equal == nil:
	case t.Kind() == reflect.Array && codeOf(h.equal) == madeCodes().array:
		mend(t.Elem(), blank)
		h.equal = ofElements(uintptr(t.Len()), headerOf(t.Elem()))
	case t.Kind() == reflect.Struct && codeOf(h.equal) == madeCodes().structs:
		for f := range t.Fields() {
			mend(f.Type, blank)
		}
		var c comparisons
		c.add(t, blank)
		c.settle()
		h.equal = inOrder(c.list)
	}
}

// withBlanks returns a key type whose blank fields are named _, because package reflect's hash
// ignores those. It returns t if t has no blank fields with other names.
func withBlanks(t reflect.Type, blank func(name string) bool) reflect.Type {
	switch t.Kind() {
	case reflect.Array:
		if of := withBlanks(t.Elem(), blank); of != t.Elem() {
			return reflect.ArrayOf(t.Len(), of)
		}
	case reflect.Struct:
		changed := false
		var fields []reflect.StructField
		for f := range t.Fields() {
			of := reflect.StructField{Name: fmt.Sprintf("F%d", len(fields)), Type: withBlanks(f.Type, blank)}
			if blank(f.Name) {
				of.Name, of.PkgPath = "_", "main"
			}
			changed = changed || of.PkgPath != "" || of.Type != f.Type
			fields = append(fields, of)
		}
		if changed {
			return reflect.StructOf(fields)
		}
	}
	return t
}

// comparison is one step in the comparison of two structs.
type comparison struct {
	offset uintptr
	equal  func(a, b unsafe.Pointer) bool
}

// comparisons has the steps for a struct type.
type comparisons struct {
	list []comparison
	slow []comparison // steps that come after the fast ones in list
}

// settle ends the list so far, because no comparison may move across one that may panic.
func (c *comparisons) settle() { c.list, c.slow = append(c.list, c.slow...), nil }

// add adds the comparisons of the fields of a struct type.
func (c *comparisons) add(t reflect.Type, blank func(name string) bool) {
	for f := range t.Fields() {
		at, equal := f.Offset, headerOf(f.Type).equal
		switch kind := f.Type.Kind(); {
		case f.Name == "_" || blank(f.Name):
		case kind == reflect.String:
			c.list = append(c.list, comparison{at, sameLength})
			c.slow = append(c.slow, comparison{at, equal})
		case kind == reflect.Interface:
			c.settle()
			c.list = append(c.list, comparison{at, sameType}, comparison{at, equal})
		case kind == reflect.Struct || kind == reflect.Array:
			c.settle()
			c.list = append(c.list, comparison{at, equal})
		default:
			c.list = append(c.list, comparison{at, equal})
		}
	}
}

// sameLength compares the lengths of strings, sameType the types in interfaces.
func sameLength(a, b unsafe.Pointer) bool { return len(*(*string)(a)) == len(*(*string)(b)) }
func sameType(a, b unsafe.Pointer) bool   { return *(*uintptr)(a) == *(*uintptr)(b) }

// inOrder returns a function that makes comparisons until one fails.
func inOrder(list []comparison) func(a, b unsafe.Pointer) bool {
	return func(a, b unsafe.Pointer) bool {
		for _, c := range list {
			if !c.equal(unsafe.Add(a, c.offset), unsafe.Add(b, c.offset)) {
				return false
			}
		}
		return true
	}
}

// ofElements returns a function that compares arrays.
func ofElements(n uintptr, elem *header) func(a, b unsafe.Pointer) bool {
	return func(a, b unsafe.Pointer) bool {
		for i := range n {
			if !elem.equal(unsafe.Add(a, i*elem.size), unsafe.Add(b, i*elem.size)) {
				return false
			}
		}
		return true
	}
}

// codes are the addresses of the functions by which types made by package reflect compare values.
type codes struct{ structs, array uintptr }

var madeCodes = sync.OnceValue(func() codes {
	t := reflect.StructOf([]reflect.StructField{{Name: "MadeToBeCompared", Type: reflect.TypeFor[int]()}})
	return codes{codeOf(headerOf(t).equal), codeOf(headerOf(reflect.ArrayOf(3, t)).equal)}
})

func codeOf(equal func(a, b unsafe.Pointer) bool) uintptr {
	return **(**uintptr)(unsafe.Pointer(&equal))
}
