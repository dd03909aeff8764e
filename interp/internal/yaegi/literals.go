package yaegi

import (
	"errors"
	"reflect"
	"sync/atomic"
	"unsafe"
)

// Function literals have their own step; the function that it makes allocates its variables as
// calls do. Literals with interfaces or functions among the parameters or results use yaegi's step.
// The step of a call recognises such functions, and runs their bodies without package reflect.

// Literal replaces the step of a function literal. Recovers reports whether the calling goroutine
// recovers from panics. If it does not, yaegi runs the body, because yaegi writes a line about a
// panic before the panic leaves the function.
func (y *Interpreter) Literal(node *Node, recovers func() bool) {
	results := len(node.typ.ret)
	l := &literal{layout: *newLayout(node.types, results+len(node.typ.arg), y.boxes), y: y, node: node, results: results,
		recovers: recovers}
	if !l.simple {
		return
	}
	l.activations = node.activations(&l.layout)
	node.MakeOne()
	node.Wrap(l.step)
}

// MakeOne makes a function literal evaluate to a single function; otherwise yaegi makes another
// where compiled code is called with the literal.
func (n *Node) MakeOne() { n.val = nil }

// literal is a function literal.
type literal struct {
	layout
	y           *Interpreter
	node        *Node
	results     int
	recovers    func() bool
	activations *activations // nil if frames are not reused
}

// closure is a function that a literal has made.
type closure struct {
	*literal
	around *Frame
}

// step returns the step of the literal; plain is yaegi's.
func (l *literal) step(plain Step) Step {
	result, ok := l.node.Result()
	if !ok {
		return plain
	}
	funcType, next := l.node.Type(), l.node.Next()
	return func(frame *Frame) Step {
		c := &closure{l, cloneFrame(frame)}
		result.In(frame).Set(reflect.MakeFunc(funcType, c.call))
		return next
	}
}

// call runs the body for compiled code.
func (c *closure) call(args []reflect.Value) []reflect.Value {
	callee := c.frame()
	for i, arg := range args {
		callee.data[c.results+i].reflect().Set(arg)
	}
	if c.recovers() {
		c.run(callee)
	} else {
		runCfg(c.node.Body().start, callee, c.node, c.node)
	}
	return reflected(callee.data[:c.results])
}

// frame returns a new frame for a call.
func (c *closure) frame() *Frame {
	f := newFrame(c.around, len(c.types), atomic.LoadUint64(&c.around.id))
	c.fill(f.data)
	return f
}

// run runs the body.
func (c *closure) run(callee *Frame) { c.y.runBody(c.node.Body().start.exec, callee) }

// valueCall is a call of a function value.
type valueCall struct {
	operands
	y        *Interpreter
	function Place
}

// callingValue returns the step of a call of a function value; plain is yaegi's.
func (y *Interpreter) callingValue(node *Node, plain Step) Step {
	c := &valueCall{y: y}
	var ok bool
	if c.function, ok = node.child[0].Place(); !ok || node.child[0].typ == nil || !c.find(node, plain) {
		return plain
	}
	return c.run
}

// run makes the call.
func (c *valueCall) run(frame *Frame) Step {
	v := c.function.In(frame)
	f, ok := v.Function()
	if !ok || f == nil || v.flag&method != 0 {
		return c.plain(frame)
	}
	callee := closureOf(f)
	if callee == nil || callee.y != c.y || callee.results != len(c.results) {
		return c.plain(frame)
	}
	if l := callee.activations; l != nil {
		a := l.take(callee.around, atomic.LoadUint64(&callee.around.id))
		if !c.begin(callee, frame, a.variables) {
			return c.plain(frame)
		}
		callee.run(a.frame)
		next := c.end(callee, frame, a.variables)
		l.release(a)
		return next
	}
	inner := callee.frame()
	if !c.begin(callee, frame, inner.data) {
		return c.plain(frame)
	}
	callee.run(inner)
	return c.end(callee, frame, inner.data)
}

// begin assigns the arguments to the variables of the function. It returns false if the types of
// arguments or results differ from those of the variables.
func (c *valueCall) begin(callee *closure, frame *Frame, variables []Value) bool {
	for i := range c.results {
		to := c.results[i].In(frame)
		if to != &c.dropped && (to.typ != variables[i].typ || to.flag&variable == 0) {
			return false
		}
	}
	return c.pass(&callee.layout, frame, variables, len(c.results))
}

// end assigns the results and returns the step that follows.
func (c *valueCall) end(callee *closure, frame *Frame, variables []Value) Step {
	c.receive(&callee.layout, frame, variables)
	if c.no != nil && !*(*bool)(variables[0].ptr) {
		return c.no
	}
	return c.yes
}

// made holds the addresses at which package reflect stores the function by which MakeFunc
// implements another one, and Go stores the receiver of a method value.
var made struct {
	stub   uintptr // the code of functions made by MakeFunc
	offset uintptr // of the function in what MakeFunc allocates
	code   uintptr // the code of the method value closure.call
}

// closureOf returns the closure behind a function value, or nil if it is another function.
func closureOf(function *byte) *closure {
	if *(*uintptr)(unsafe.Pointer(function)) != made.stub {
		return nil
	}
	call := *(**methodValue)(unsafe.Add(unsafe.Pointer(function), made.offset))
	if call.code != made.code {
		return nil
	}
	return call.receiver
}

// methodValue is the method value closure.call.
type methodValue struct {
	code     uintptr
	receiver *closure
}

// findMade sets made.
func findMade() error {
	c := &closure{}
	call := c.call
	value := *(**methodValue)(unsafe.Pointer(&call))
	function, _ := FunctionOf(reflect.MakeFunc(reflect.TypeFor[func()](), call))
	made.stub, made.code = *(*uintptr)(unsafe.Pointer(function)), value.code
	const words = 6 // of what MakeFunc allocates
	for i := range uintptr(words) {
		if *(**methodValue)(unsafe.Add(unsafe.Pointer(function), i*word)) == value {
			made.offset = i * word
			if closureOf(function) == c {
				return nil
			}
		}
	}
	return errors.New("a function made by package reflect does not contain the given one")
}
