package interp

import (
	"reflect"

	"github.com/symmrepl/symmrepl/internal/values"
	"github.com/symmrepl/symmrepl/symmem"
)

// maxSized is the number of elements of a slice, array or map that are measured; the others are
// assumed to have the same average size.
const maxSized = 1000

// sized is a value that knows its size in bytes.
type sized interface{ Bytes() int }

var _ sized = (*symmem.Tensor)(nil)

// sizer adds up the memory of a variable, including everything that it refers to.
type sizer struct {
	in   *Interp
	live bool // cells are running: the contents of maps are not read
	seen map[uintptr]bool
}

// size estimates the bytes of a variable: the variable itself, and the arrays, strings, maps and
// values of cells' types that it refers to, but not memory that belongs to compiled code. For
// values that know their size, such as tensors, it uses that size.
func (in *Interp) size(v reflect.Value, live bool) (bytes int64) {
	defer func() { recover() }() // a variable that is being written to may be inconsistent
	s := &sizer{in: in, live: live, seen: map[uintptr]bool{}}
	return s.value(v, 0)
}

func (s *sizer) value(v reflect.Value, depth int) int64 {
	if own, ok := s.ownSize(v); ok {
		return own
	}
	return int64(v.Type().Size()) + s.beyond(v, depth)
}

// ownSize asks a value of a compiled type for its size.
func (s *sizer) ownSize(v reflect.Value) (int64, bool) {
	t := v.Type()
	if t.Kind() != reflect.Pointer || !s.in.isCompiled(t.Elem()) || v.IsNil() || !v.CanInterface() {
		return 0, false
	}
	own, ok := v.Interface().(sized)
	if !ok {
		return 0, false
	}
	return int64(own.Bytes()), true
}

// beyond returns the bytes of everything that v refers to, not counting v itself.
func (s *sizer) beyond(v reflect.Value, depth int) int64 {
	if depth > values.MaxDepth || s.in.isCompiled(v.Type()) {
		return 0
	}
	switch v.Kind() {
	case reflect.String:
		return int64(v.Len())
	case reflect.Slice:
		if v.IsNil() || s.seen[v.Pointer()] {
			return 0
		}
		s.seen[v.Pointer()] = true
		return int64(v.Cap())*int64(v.Type().Elem().Size()) + s.elements(v, depth)
	case reflect.Array:
		return s.elements(v, depth)
	case reflect.Map:
		if v.IsNil() || s.seen[v.Pointer()] {
			return 0
		}
		s.seen[v.Pointer()] = true
		return s.entries(v, depth)
	case reflect.Struct:
		var n int64
		for i := range v.NumField() {
			n += s.beyond(v.Field(i), depth+1)
		}
		return n
	case reflect.Pointer:
		if v.IsNil() || s.seen[v.Pointer()] || s.in.isCompiled(v.Type().Elem()) {
			return 0
		}
		s.seen[v.Pointer()] = true
		return s.value(v.Elem(), depth+1)
	case reflect.Interface:
		held, _ := s.in.runtime.Yaegi().Concrete(v)
		if !held.IsValid() {
			return 0
		}
		return s.value(held, depth+1)
	}
	return 0
}

// elements returns the bytes of everything that the elements of a slice or array refer to.
func (s *sizer) elements(v reflect.Value, depth int) int64 {
	if kind := v.Type().Elem().Kind(); values.IsBasic(kind) && kind != reflect.String || v.Len() == 0 {
		return 0
	}
	var n int64
	looked := min(v.Len(), maxSized)
	for i := range looked {
		n += s.beyond(v.Index(i), depth+1)
	}
	return n * int64(v.Len()) / int64(looked)
}

// entries returns the bytes of a map's entries.
func (s *sizer) entries(v reflect.Value, depth int) int64 {
	n := int64(v.Len()) * int64(v.Type().Key().Size()+v.Type().Elem().Size())
	if s.live || v.Len() == 0 {
		return n
	}
	var more, looked int64
	for entries := v.MapRange(); looked < maxSized && entries.Next(); looked++ {
		more += s.beyond(entries.Key(), depth+1) + s.beyond(entries.Value(), depth+1)
	}
	return n + more*int64(v.Len())/looked
}
