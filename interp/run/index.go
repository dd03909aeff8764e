package run

import (
	"go/token"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/symmrepl/symmrepl/session"
)

// Elements of slices, arrays and strings have a step of ours, too: its panics say the index, and most are found without calls of package reflect.

// elements say what the elements of a type are as values.
type elements struct {
	of   value // a slice, string or array of the type
	like value // an element, whose address each has in the place of this one's
	size uintptr
	len  int // of an array
}

// header is what a slice or string begins with.
type header struct {
	data unsafe.Pointer
	len  int
}

// elementsOf returns what the elements of a slice, string or array are. Of arrays, only those of variables can be found.
func elementsOf(x *value) (e *elements, ok bool) {
	if x.typ == nil {
		return nil, false
	}
	t := (*(*reflect.Value)(unsafe.Pointer(x))).Type()
	var first reflect.Value
	e = &elements{of: value{typ: x.typ, flag: x.flag}}
	switch x.flag &^ variable {
	case uintptr(reflect.Slice) | indirect:
		first = reflect.MakeSlice(t, 1, 1).Index(0)
	case uintptr(reflect.String) | indirect:
		first = reflect.ValueOf("x").Index(0)
	case uintptr(reflect.Array) | indirect:
		if e.len = t.Len(); e.len == 0 || x.flag&variable == 0 {
			return nil, false
		}
		first = reflect.New(t).Elem().Index(0)
	default: // a pointer, or in a field that is not exported
		return nil, false
	}
	e.like, e.size = *asValue(&first), first.Type().Size()
	return e, true
}

// at returns element i of a value for which they were made, if there is one.
func (e *elements) at(x *value, i int) (v value, ok bool) {
	data, n := x.ptr, e.len
	if n == 0 {
		list := (*header)(x.ptr)
		data, n = list.data, list.len
	}
	if uint(i) >= uint(n) {
		return value{}, false
	}
	return value{e.like.typ, unsafe.Add(data, uintptr(i)*e.size), e.like.flag}, true
}

// indexing is the step of x[i].
func (rt *Runtime) indexing(node unsafe.Pointer, operands []unsafe.Pointer, plain step) step {
	n := rt.yaegi.nodes
	plain = rt.checkingIndex(node, operands, plain)
	x, ok1 := n.placeOf(operands[0])
	i, ok2 := n.placeOf(operands[1])
	result, ok3 := n.placeOf(node)
	if !ok1 || !ok2 || !ok3 || result.constant != nil || n.pointer(node, n.fnext) != nil {
		return plain
	}
	next := n.stepAt(node, n.next)
	var known atomic.Pointer[elements]
	return func(frame unsafe.Pointer) step {
		x, i := x.in(frame), i.in(frame)
		e := known.Load()
		if e == nil || e.of.typ != x.typ || e.of.flag != x.flag {
			var ok bool
			if e, ok = elementsOf(x); !ok {
				return plain(frame)
			}
			known.Store(e)
		}
		if !i.isInt() {
			return plain(frame)
		}
		v, ok := e.at(x, *i.int())
		if !ok {
			return plain(frame)
		}
		*result.in(frame) = v
		return next
	}
}

// measuring is the step of len(x).
func (n *nodes) measuring(node, operand unsafe.Pointer, plain step) step {
	x, ok1 := n.placeOf(operand)
	result, ok2 := n.placeOf(node)
	if !ok1 || !ok2 || result.constant != nil {
		return plain
	}
	next := n.stepAt(node, n.next)
	return func(frame unsafe.Pointer) step {
		x, result := x.in(frame), result.in(frame)
		if !x.is(reflect.Slice) && !x.is(reflect.String) || !result.isVariable(reflect.Int) {
			return plain(frame)
		}
		*result.int() = (*header)(x.ptr).len
		return next
	}
}

// checkingIndex is yaegi's step of x[i], which panics as Go does if there is no such element.
func (rt *Runtime) checkingIndex(node unsafe.Pointer, operands []unsafe.Pointer, plain step) step {
	x, i, position := operand(operands[0]), operand(operands[1]), rt.yaegi.nodes.positionOf(node)
	return func(frame unsafe.Pointer) step {
		if x := pointedTo(x(frame)); x.IsValid() {
			switch i := i(frame); {
			case i.CanInt() && uint64(i.Int()) >= uint64(x.Len()):
				rt.markFault(position)
				indexFault(int(i.Int()), x.Len())
			case i.CanUint() && i.Uint() >= uint64(x.Len()):
				rt.markFault(position)
				unsignedIndexFault(i.Uint(), x.Len())
			}
		}
		return plain(frame)
	}
}

// sliceBits are the bits of sliceFault for the bounds that the nodes of yaegi's generators have after that of the operand.
var sliceBits = map[string][]int{"slice": {givenLow, givenHigh, givenLimit}, "slice0": {givenHigh, givenLimit}}

// list is what a variable of a slice type has in it, and, but for the capacity, of a string type.
type list struct {
	data     unsafe.Pointer
	len, cap int
}

// slicing is the step of x[low:high].
func (rt *Runtime) slicing(node unsafe.Pointer, operands []unsafe.Pointer, bits []int, plain step) step {
	n := rt.yaegi.nodes
	plain = rt.checkingSlice(node, operands, bits, plain)
	x, ok := n.placeOf(operands[0])
	result, okResult := n.placeOf(node)
	if !ok || !okResult || result.constant != nil {
		return plain
	}
	var low, high *place
	for i, operand := range operands[1:] {
		bound, ok := n.placeOf(operand)
		switch {
		case !ok || bits[i] == givenLimit:
			return plain
		case bits[i] == givenLow:
			low = &bound
		default:
			high = &bound
		}
	}
	next := n.stepAt(node, n.next)
	var known atomic.Pointer[elements]
	return func(frame unsafe.Pointer) step {
		x := x.in(frame)
		isString := x.flag&^variable == uintptr(reflect.String)|indirect
		if !isString && x.flag&^variable != uintptr(reflect.Slice)|indirect {
			return plain(frame)
		}
		size, capacity := uintptr(1), 0
		if isString {
			capacity = (*header)(x.ptr).len
		} else {
			e := known.Load()
			if e == nil || e.of.typ != x.typ {
				e, _ = elementsOf(x)
				known.Store(e)
			}
			size, capacity = e.size, (*list)(x.ptr).cap
		}
		from, to, ok1, ok2 := 0, (*header)(x.ptr).len, true, true
		if low != nil {
			from, ok1 = low.in(frame).integer()
		}
		if high != nil {
			to, ok2 = high.in(frame).integer()
		}
		if !ok1 || !ok2 || uint(from) > uint(to) || uint(to) > uint(capacity) {
			return plain(frame)
		}
		part := &list{(*header)(x.ptr).data, to - from, capacity - from}
		if part.cap > 0 { // else it would point behind the elements
			part.data = unsafe.Add(part.data, uintptr(from)*size)
		}
		*result.in(frame) = value{x.typ, unsafe.Pointer(part), x.flag &^ variable}
		return next
	}
}

// checkingSlice is yaegi's step of x[low:high:limit], which panics as Go does if these are no bounds of x.
func (rt *Runtime) checkingSlice(node unsafe.Pointer, operands []unsafe.Pointer, bits []int, plain step) step {
	x, position := operand(operands[0]), rt.yaegi.nodes.positionOf(node)
	var values []func(unsafe.Pointer) reflect.Value
	for _, bound := range operands[1:] {
		values = append(values, operand(bound))
	}
	return func(frame unsafe.Pointer) step {
		x := pointedTo(x(frame))
		if !x.IsValid() {
			return plain(frame)
		}
		given, length, capacity := 0, x.Len(), x.Len()
		if x.Kind() == reflect.Slice {
			given, capacity = isSlice, x.Cap()
		}
		var bounds [givenLimit + 1]int
		for i, value := range values {
			given |= bits[i]
			if v := value(frame); v.CanUint() {
				given |= unsignedLow * bits[i]
				bounds[bits[i]] = int(v.Uint())
			} else {
				bounds[bits[i]] = int(v.Int())
			}
		}
		if fault := sliceFault(given, length, capacity, bounds[givenLow], bounds[givenHigh], bounds[givenLimit]); fault != "" {
			rt.markFault(position)
			panic(fault)
		}
		return plain(frame)
	}
}

// pointedTo returns the array that a pointer points to, an invalid value if it is nil, and other values as they are.
func pointedTo(x reflect.Value) reflect.Value {
	if x.Kind() == reflect.Pointer {
		return x.Elem()
	}
	return x
}

// markFault stores the position of what panics, unless it is in a package.
func (rt *Runtime) markFault(position int) {
	var at session.Error
	if rt.host.Locate(&at, token.Pos(position)); at.File != "" {
		*rt.mark = position
	}
}
