package run

import (
	"reflect"
	"strconv"
	"unsafe"
)

// What lowered code does most often besides the user's own operations has steps of ours, generated in the place of yaegi's, which take a
// fifth of their time: storing a position, and noting that a function begins.

// useStep makes a node, which is in a function, generate our step if there is one for it.
func (rt *Runtime) useStep(node unsafe.Pointer, in *scope) {
	n := rt.yaegi.nodes
	list := n.childrenOf(node)
	switch len(list) {
	case 1: // position#
		if n.kindOf(node) != n.exprStmt {
			break
		}
		switch n.nameOf(list[0]) {
		case MarkVar:
			n.generate(node, storing(rt.mark, n.positionOf(node)))
		case CallVar:
			n.generate(node, storing(rt.call, n.positionOf(node)))
		}
	case 2: // import#.leave#(5)
		if n.isHelper(list[0], Leave) {
			position, _ := strconv.Atoi(n.nameOf(list[1]))
			n.generate(node, rt.leaving(position))
		}
	case 3: // import#.code#(name, at)
		if n.isHelper(list[0], Code) {
			n.generate(node, doingNothing)
		}
	case 4: // import#.enter#(name, end, top)
		if n.isHelper(list[0], Enter) {
			name, _ := strconv.Unquote(n.nameOf(list[1]))
			n.generate(node, rt.entering(in, name, n.nameOf(list[3]) == "true"))
		}
	}
}

// doingNothing is the step of what only the tree tells.
func doingNothing(next step) step { return func(unsafe.Pointer) step { return next } }

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

// storing is the step that stores a position in a variable.
func storing(variable *int, position int) func(next step) step {
	return func(next step) step {
		return func(unsafe.Pointer) step {
			*variable = position
			return next
		}
	}
}
