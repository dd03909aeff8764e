package run

import (
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/petermattis/goid"
)

// Function literals have a step of ours, whose functions make their variables as calls do. Those with interfaces or functions among the
// parameters or results are left to yaegi.

// runFunction runs the body of a function that compiled code may have called.
//
//go:linkname runFunction github.com/traefik/yaegi/interp.runCfg
func runFunction(start, frame, function, call unsafe.Pointer)

// cloneFrame returns a copy of a frame, whose variables are the same.
//
//go:linkname cloneFrame github.com/traefik/yaegi/interp.(*frame).clone
func cloneFrame(frame unsafe.Pointer) unsafe.Pointer

// typeOf returns the type of one of yaegi's.
//
//go:linkname typeOf github.com/traefik/yaegi/interp.(*itype).TypeOf
func typeOf(typ unsafe.Pointer) reflect.Type

// ownLiteral makes a function literal generate a step of ours.
func (rt *Runtime) ownLiteral(node unsafe.Pointer) {
	n := rt.yaegi.nodes
	typ := n.pointer(node, n.typ)
	results := n.lenOf(typ, n.ret)
	l := newLayout(*(*[]reflect.Type)(unsafe.Add(node, n.types)), results+n.lenOf(typ, n.arg), rt.yaegi.boxes)
	if !l.simple {
		return
	}
	n.onlyOne(node)
	n.wrap(n.genOf(node), func(plain step) step { return rt.literal(node, l, results, plain) })
}

// onlyOne makes a function literal one function: else yaegi makes another where compiled code is called with the literal.
func (n *nodes) onlyOne(literal unsafe.Pointer) { *(*any)(unsafe.Add(literal, n.val)) = nil }

// literal is the step of a function literal.
func (rt *Runtime) literal(node unsafe.Pointer, l *layout, results int, plain step) step {
	n := rt.yaegi.nodes
	result, ok := n.placeOf(node)
	if !ok || result.constant != nil {
		return plain
	}
	funcType, start, next := typeOf(n.pointer(node, n.typ)), n.pointer(n.childrenOf(node)[bodyChild], n.start), n.stepAt(node, n.next)
	return func(frame unsafe.Pointer) step {
		around := cloneFrame(frame)
		f := reflect.MakeFunc(funcType, func(args []reflect.Value) []reflect.Value {
			callee := newFrame(around, len(l.types), atomic.LoadUint64((*uint64)(unsafe.Add(around, n.id))))
			variables := *(*[]reflect.Value)(unsafe.Add(callee, n.data))
			l.fill(*(*[]value)(unsafe.Add(callee, n.data)))
			for i, arg := range args {
				variables[results+i].Set(arg)
			}
			if _, own := rt.own.Load(goid.Get()); own {
				rt.runBody(*n.execOf(start), callee)
			} else { // its panic may end the process: see callbacks.go
				runFunction(start, callee, node, node)
			}
			return variables[:results]
		})
		*result.in(frame) = *asValue(&f)
		return next
	}
}
