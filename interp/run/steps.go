package run

import (
	"reflect"
	"strconv"
	"unsafe"
)

// What lowered code does most often besides the user's own operations has steps of ours, generated in the place of yaegi's, which take a fifth of their time: storing
// a position, and looking whether an index is in range.

// useStep makes a node, which is in a function, generate our step if there is one for it.
func (rt *Runtime) useStep(node unsafe.Pointer, in *scope) {
	n := rt.yaegi.nodes
	list := n.childrenOf(node)
	switch len(list) {
	case 2: // position# = 5
		position, err := strconv.Atoi(n.nameOf(list[1]))
		switch {
		case err != nil:
		case n.nameOf(list[0]) == MarkVar:
			n.generate(node, storing(rt.mark, position))
		case n.nameOf(list[0]) == CallVar:
			n.generate(node, storing(rt.call, position))
		case n.isHelper(list[0], Leave): // import#.leave#(5)
			n.generate(node, rt.leaving(position))
		}
	case 3: // import#.index#(i, x)
		if n.isHelper(list[0], CheckIndex) {
			n.generate(node, func(next step) step { return rt.checkingIndex(list[1], list[2], n.positionOf(node), next) })
		}
	case 4: // import#.enter#(name, end, top)
		if n.isHelper(list[0], Enter) {
			name, _ := strconv.Unquote(n.nameOf(list[1]))
			n.generate(node, rt.entering(in, name, n.nameOf(list[3]) == "true"))
		}
	case 6: // import#.slice#(given, x, low, high, limit)
		if n.isHelper(list[0], CheckSlice) {
			n.generate(node, func(next step) step { return rt.checkingSlice([5]unsafe.Pointer(list[1:]), n.positionOf(node), next) })
		}
	}
}

// isHelper reports whether the function of a call is a helper.
func (n *nodes) isHelper(fun unsafe.Pointer, helper Helper) bool {
	parts := n.childrenOf(fun)
	return len(parts) == 2 && n.nameOf(parts[1]) == string(helper)
}

// generate makes a node generate the step that do returns, which goes on with next. Yaegi generates the step that follows first.
func (n *nodes) generate(node unsafe.Pointer, do func(next step) step) {
	*n.genOf(node) = func(unsafe.Pointer) { *n.execOf(node) = do(n.stepAt(node, n.next)) }
}

// stepAt returns the step of the node to which a field of another points, nil if there is none.
func (n *nodes) stepAt(node unsafe.Pointer, field uintptr) step {
	following := *(*unsafe.Pointer)(unsafe.Add(node, field))
	if following == nil {
		return nil
	}
	return *n.execOf(following)
}

// operand returns how to evaluate a node in a frame, once its own step has been made.
//
//go:linkname operand github.com/traefik/yaegi/interp.genValue
func operand(node unsafe.Pointer) func(frame unsafe.Pointer) reflect.Value

// storing is the step of an assignment of a position.
func storing(variable *int, position int) func(next step) step {
	return func(next step) step {
		return func(unsafe.Pointer) step {
			*variable = position
			return next
		}
	}
}

// checkIndex is what yaegi takes for the helper.
func checkIndex(i int, x any) {
	if n := numberOf(reflect.ValueOf(x)); uint(i) >= uint(n) {
		indexFault(i, n)
	}
}

// checkingIndex is the step of CheckIndex(i, x) at a position.
func (rt *Runtime) checkingIndex(i, x unsafe.Pointer, position int, next step) step {
	index, operand := operand(i), operand(x)
	return func(frame unsafe.Pointer) step {
		i, x := index(frame).Int(), operand(frame)
		if n := numberOf(x); uint64(i) >= uint64(n) {
			*rt.mark = position
			indexFault(int(i), n)
		}
		return next
	}
}

// checkSlice is what yaegi takes for the helper.
func checkSlice(given int, x any, low, high, limit int) {
	length, capacity, kind := extent(reflect.ValueOf(x))
	sliceBounds(given|kind, length, capacity, low, high, limit)
}

// checkingSlice is the step of CheckSlice(given, x, low, high, limit) at a position.
func (rt *Runtime) checkingSlice(args [5]unsafe.Pointer, position int, next step) step {
	var values [5]func(unsafe.Pointer) reflect.Value
	for i, arg := range args {
		values[i] = operand(arg)
	}
	given := int(values[0](nil).Int())
	return func(frame unsafe.Pointer) step {
		length, capacity, kind := extent(values[1](frame))
		low, high, limit := int(values[2](frame).Int()), int(values[3](frame).Int()), int(values[4](frame).Int())
		marked := *rt.mark
		*rt.mark = position
		sliceBounds(given|kind, length, capacity, low, high, limit)
		*rt.mark = marked
		return next
	}
}

// extent returns the length and the capacity of what is sliced, and the bit of a slice.
func extent(x reflect.Value) (length, capacity, kind int) {
	if x.Kind() == reflect.Slice {
		return x.Len(), x.Cap(), isSlice
	}
	n := numberOf(x)
	return n, n, 0
}

// numberOf is how many elements a slice or string has, or the number that is said in the place of an array.
func numberOf(x reflect.Value) int {
	if x.Kind() == reflect.Int {
		return int(x.Int())
	}
	return x.Len()
}
