package yaegi

import (
	"reflect"
	"unsafe"
)

// layout describes the variables in the frame of a function.
type layout struct {
	// yaegi's types of the results, the parameters, and all other variables, in this order
	types  []reflect.Type
	values []Value // variables of these types, without memory
	// sizes of variables without pointers that are not larger than a word; 0 for others
	sizes  []uintptr
	words  int  // number of such variables
	simple bool // none of the results and parameters is an interface
}

// newLayout returns the layout for yaegi's types, the first of which are those of results and
// parameters.
func newLayout(types []reflect.Type, parameters int, box reflect.Type) *layout {
	l := &layout{types: types, values: make([]Value, len(types)), sizes: make([]uintptr, len(types)), simple: parameters <= len(types)}
	for i, t := range types {
		l.values[i] = Value{typ: asType(t), flag: uintptr(t.Kind()) | indirect | variable}
		switch k := t.Kind(); {
		case reflect.Bool <= k && k <= reflect.Float64:
			l.sizes[i] = t.Size()
			l.words++
		case k == reflect.Interface || t == box:
			l.simple = l.simple && i >= parameters
		}
	}
	return l
}

// isOf reports whether the layout is for this list of yaegi's types.
func (l *layout) isOf(types []reflect.Type) bool {
	return len(l.types) == len(types) && unsafe.SliceData(l.types) == unsafe.SliceData(types)
}

// fill creates the variables. It returns the memory of those without pointers.
func (l *layout) fill(variables []Value) []uint64 {
	all := make([]uint64, l.words)
	words := all
	for i := range variables {
		variables[i] = l.values[i]
		if l.sizes[i] == 0 {
			variables[i].ptr = allocate(l.values[i].typ)
			continue
		}
		variables[i].ptr = unsafe.Pointer(&words[0])
		words = words[1:]
	}
	return all
}

// copy sets variable i of the layout to a value of its type.
func (l *layout) copy(i int, to, from *Value) {
	switch size := l.sizes[i]; size {
	case 0:
		switch {
		case !from.isOf(to.typ):
			to.reflect().Set(from.Reflect())
		case isWord[to.flag&kindMask]:
			*(*unsafe.Pointer)(to.ptr) = *(*unsafe.Pointer)(from.address())
		default:
			move(to.typ, to.ptr, from.address())
		}
	case 8:
		*to.int() = *from.int()
	default:
		copy(unsafe.Slice((*byte)(to.ptr), size), unsafe.Slice((*byte)(from.ptr), size))
	}
}
