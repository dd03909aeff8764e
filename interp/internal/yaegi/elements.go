package yaegi

import (
	"reflect"
	"sync/atomic"
	"unsafe"
)

// Elements of slices, arrays and strings have their own step, too, which finds most elements
// without calls of package reflect.

// elements describes the elements of a type as values.
type elements struct {
	of   Value // a slice, string or array of the type
	like Value // a sample element; an element is a copy of it with its own address
	size uintptr
	len  int // for arrays
}

// elementsOf describes the elements of a slice, string or array. An array must be a variable.
func elementsOf(x *Value) (e *elements, ok bool) {
	if x.typ == nil {
		return nil, false
	}
	t := x.Reflect().Type()
	var first reflect.Value
	e = &elements{of: Value{typ: x.typ, flag: x.flag}}
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
	default: // a pointer, or in an unexported field
		return nil, false
	}
	e.like, e.size = *valueOf(&first), first.Type().Size()
	return e, true
}

// at returns element i of x, which has the type that e describes, if i is in range.
func (e *elements) at(x *Value, i int) (v Value, ok bool) {
	data, n := x.ptr, e.len
	if n == 0 {
		list := (*header)(x.ptr)
		data, n = list.data, list.len
	}
	if uint(i) >= uint(n) {
		return Value{}, false
	}
	return Value{e.like.typ, unsafe.Add(data, uintptr(i)*e.size), e.like.flag}, true
}

// Indexing returns the step of x[i]. For unsupported operands, and for an index out of range, it
// runs plain.
func (n *Node) Indexing(plain Step) Step {
	x, ok1 := n.child[0].Place()
	i, ok2 := n.child[1].Place()
	result, ok3 := n.Result()
	if !ok1 || !ok2 || !ok3 || n.fnext != nil {
		return plain
	}
	next := n.Next()
	var known atomic.Pointer[elements]
	return func(frame *Frame) Step {
		x, i := x.In(frame), i.In(frame)
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
		*result.In(frame) = v
		return next
	}
}

// measuring returns the step of len(x).
func measuring(node, operand *Node, plain Step) Step {
	x, ok1 := operand.Place()
	result, ok2 := node.Result()
	if !ok1 || !ok2 {
		return plain
	}
	next := node.Next()
	return func(frame *Frame) Step {
		x, result := x.In(frame), result.In(frame)
		if !x.is(reflect.Slice) && !x.is(reflect.String) || !result.isVariable(reflect.Int) {
			return plain(frame)
		}
		*result.int() = (*header)(x.ptr).len
		return next
	}
}

// Bound is one of the bounds of a slice expression.
type Bound int

const (
	Low Bound = 1 << iota
	High
	Limit
)

// bounds lists, by generator, the bounds that follow the operand of a slice expression.
var bounds = map[string][]Bound{"slice": {Low, High, Limit}, "slice0": {High, Limit}}

// BoundsOf returns the meaning of a node's children after the first if the generator is that of a
// slice expression. The node may have fewer children.
func BoundsOf(generator string) []Bound { return bounds[generator] }

// list is the memory of a slice variable and, except for the capacity, of a string variable.
type list struct {
	data     unsafe.Pointer
	len, cap int
}

// Slicing returns the step of x[low:high]. For unsupported operands, and for bounds out of range,
// it runs plain.
func (n *Node) Slicing(bounds []Bound, plain Step) Step {
	x, ok1 := n.child[0].Place()
	result, ok2 := n.Result()
	if !ok1 || !ok2 {
		return plain
	}
	var low, high *Place
	for i, operand := range n.child[1:] {
		bound, ok := operand.Place()
		switch {
		case !ok || bounds[i] == Limit:
			return plain
		case bounds[i] == Low:
			low = &bound
		default:
			high = &bound
		}
	}
	next := n.Next()
	var known atomic.Pointer[elements]
	return func(frame *Frame) Step {
		x := x.In(frame)
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
			from, ok1 = low.In(frame).integer()
		}
		if high != nil {
			to, ok2 = high.In(frame).integer()
		}
		if !ok1 || !ok2 || uint(from) > uint(to) || uint(to) > uint(capacity) {
			return plain(frame)
		}
		part := &list{(*header)(x.ptr).data, to - from, capacity - from}
		if part.cap > 0 { // otherwise it would point past the elements
			part.data = unsafe.Add(part.data, uintptr(from)*size)
		}
		*result.In(frame) = Value{x.typ, unsafe.Pointer(part), x.flag &^ variable}
		return next
	}
}
