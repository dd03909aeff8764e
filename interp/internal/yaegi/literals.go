package yaegi

import (
	"reflect"
	"sync/atomic"
)

// Function literals have their own step; the function that it makes allocates its variables as
// calls do. Literals with interfaces or functions among the parameters or results use yaegi's step.

// Literal replaces the step of a function literal. Recovers reports whether the calling goroutine
// recovers from panics. If it does not, yaegi runs the body, because yaegi writes a line about a
// panic before the panic leaves the function.
func (y *Interpreter) Literal(node *Node, recovers func() bool) {
	results := len(node.typ.ret)
	l := newLayout(node.types, results+len(node.typ.arg), y.boxes)
	if !l.simple {
		return
	}
	node.MakeOne()
	node.Wrap(func(plain Step) Step { return y.literal(node, l, results, recovers, plain) })
}

// MakeOne makes a function literal evaluate to a single function; otherwise yaegi makes another
// where compiled code is called with the literal.
func (n *Node) MakeOne() { n.val = nil }

// literal returns the step of a function literal.
func (y *Interpreter) literal(node *Node, l *layout, results int, recovers func() bool, plain Step) Step {
	result, ok := node.Result()
	if !ok {
		return plain
	}
	funcType, start, next := node.Type(), node.Body().start, node.Next()
	return func(frame *Frame) Step {
		around := cloneFrame(frame)
		f := reflect.MakeFunc(funcType, func(args []reflect.Value) []reflect.Value {
			callee := newFrame(around, len(l.types), atomic.LoadUint64(&around.id))
			l.fill(callee.data)
			for i, arg := range args {
				callee.data[results+i].reflect().Set(arg)
			}
			if recovers() {
				y.runBody(start.exec, callee)
			} else {
				runCfg(start, callee, node, node)
			}
			return reflected(callee.data[:results])
		})
		result.In(frame).Set(f)
		return next
	}
}
