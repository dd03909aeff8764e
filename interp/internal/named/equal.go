package named

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// Package reflect compares structs field by field. Compiled code leaves out blank fields, and looks at what is quickly seen first: the bytes of strings, and what
// interfaces hold, only when nothing else differs. It matters for memory that cannot be read, and for bytes that came into blank fields by package unsafe.

// MendEqual makes struct types that package reflect made compare their values as compiled ones do: t, or what it is an array of, a pointer to, a map of and so on,
// and those of its fields. Blank reports whether a field is blank, by its name; those whose name is _ are anyway.
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

// mend does it for a struct or array type and its parts.
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

// withBlanks returns a type of keys whose blank fields are called _, which the hash of package reflect leaves out; t if it has none of other names.
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

// comparison is one that the comparison of structs consists of.
type comparison struct {
	offset uintptr
	equal  func(a, b unsafe.Pointer) bool
}

// comparisons are those of a struct type.
type comparisons struct {
	list []comparison
	slow []comparison // that come after the quick ones of the list
}

// settle ends the list so far: nothing changes its place with a comparison that may panic.
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

// sameLength compares the lengths of strings, sameType the types that interfaces hold.
func sameLength(a, b unsafe.Pointer) bool { return len(*(*string)(a)) == len(*(*string)(b)) }
func sameType(a, b unsafe.Pointer) bool   { return *(*uintptr)(a) == *(*uintptr)(b) }

// inOrder returns the function that makes comparisons until one does not hold.
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

// ofElements returns the function that compares arrays.
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

// codes are those by which types that package reflect made compare values.
type codes struct{ structs, array uintptr }

var madeCodes = sync.OnceValue(func() codes {
	t := reflect.StructOf([]reflect.StructField{{Name: "MadeToBeCompared", Type: reflect.TypeFor[int]()}})
	return codes{codeOf(headerOf(t).equal), codeOf(headerOf(reflect.ArrayOf(3, t)).equal)}
})

func codeOf(equal func(a, b unsafe.Pointer) bool) uintptr {
	return **(**uintptr)(unsafe.Pointer(&equal))
}
