package yaegi

import (
	"reflect"
	"sync/atomic"
	"unsafe"
)

// Calls of functions and methods of cells have their own step. For each call, yaegi allocates every
// variable of the function separately; for a method it also makes a compiled function, which it
// calls by reflection. The step here allocates all variables without pointers together, and runs
// the body of a method like the body of a function. Calls with interfaces or functions among the
// arguments or results use yaegi's step, which converts those.

// Call replaces the step of a call of a cell's function or method.
func (y *Interpreter) Call(node *Node) {
	if parent := node.anc.kind; parent == kinds.goStmt || parent == kinds.deferStmt {
		return
	}
	if c := y.newCall(node); c != nil {
		node.Wrap(func(plain Step) Step { return c.step(node, plain) })
		return
	}
	node.Wrap(func(plain Step) Step { return y.callingValue(node, plain) })
}

// operands are the caller's places and steps for the call of a cell's function.
type operands struct {
	args    []Place
	results []Place // dropped for unused ones
	dropped Value
	plain   Step // yaegi's step
	yes, no Step // following steps; no is nil unless the call is a condition
}

// call is a call of a function or method of a cell.
type call struct {
	operands
	y        *Interpreter
	function *Node // the function's node, whose contents change when the function is defined again
	// the call's step is this package's; it is made before the step of the method's selection
	own    bool
	callee atomic.Pointer[callee]

	receiver func(*Frame) reflect.Value // nil for a function
	made     Place                      // where yaegi stores the function that it makes of a method
	make     Step                       // yaegi's step that makes it
}

// callee is the data about the called function.
type callee struct {
	layout
	activations *activations // nil if frames are not reused
}

// newCall returns the call of a node, or nil if the callee is not a known function or method of a
// cell.
func (y *Interpreter) newCall(node *Node) *call {
	c, function := &call{y: y}, node.child[0]
	isMethod := y.Generator(function) == "getMethod"
	switch {
	case isMethod:
		c.function = (*[2]*Node)(unsafe.Pointer(&function.val))[1] // the pointer in the interface
	case function.sym != nil && function.sym.index < 0:
		c.function = function.sym.node
	}
	if c.function == nil || !c.function.IsFunction() {
		return nil
	}
	if isMethod {
		function.Wrap(func(plain Step) Step { return c.selecting(function, plain) })
	}
	return c
}

// selecting returns the step of the selection of a method. It makes no function value if the call
// does not need one.
func (c *call) selecting(node *Node, plain Step) Step {
	if !c.own {
		return plain
	}
	c.receiver, c.make = genValueRecv(node), plain
	c.made, _ = node.Place()
	next := node.Next()
	return func(frame *Frame) Step {
		if !c.current().simple {
			return plain(frame)
		}
		*c.made.In(frame) = Value{}
		return next
	}
}

// step returns the step of the call; plain is yaegi's.
func (c *call) step(node *Node, plain Step) Step {
	if c.own = c.find(node, plain); !c.own {
		return plain
	}
	return c.run
}

// find finds the operands of a call. It returns false if yaegi's step has to be used.
func (o *operands) find(node *Node, plain Step) bool {
	o.args, o.results = nil, nil
	o.plain, o.yes, o.no = plain, node.Next(), node.Otherwise()
	typ, args := node.child[0].typ, node.child[1:]
	if len(typ.arg) != len(args) {
		return false
	}
	for _, arg := range args {
		genValue(arg) // as a side effect, it converts a constant
		p, ok := arg.Place()
		if !ok {
			return false
		}
		o.args = append(o.args, p)
	}
	first, ok := node.Place()
	for i := range typ.ret {
		p := first
		p.offset += uintptr(i) * unsafe.Sizeof(Value{})
		switch parent := node.anc; parent.kind {
		case kinds.returnStmt:
			p.level = 0
		case kinds.defineXStmt, kinds.assignXStmt:
			if parent.child[i].ident == "_" {
				p = Place{constant: &o.dropped}
			}
		}
		if !ok {
			return false
		}
		o.results = append(o.results, p)
	}
	return true
}

// current returns the data about the current definition of the function.
func (c *call) current() *callee {
	types := c.function.types
	l := c.callee.Load()
	if l == nil || !l.isOf(types) {
		inputs := len(c.args)
		if c.receiver != nil {
			inputs++
		}
		l = &callee{layout: *newLayout(types, len(c.results)+inputs, c.y.boxes)}
		l.simple = l.simple && !c.function.rval.IsValid()
		if l.simple {
			l.activations = c.function.activations(&l.layout)
		}
		c.callee.Store(l)
	}
	return l
}

// run makes the call.
func (c *call) run(frame *Frame) Step {
	l := c.current()
	if !l.simple {
		return c.left(frame)
	}
	id := atomic.LoadUint64(&frame.id)
	if l.activations != nil {
		return c.runAgain(l, frame, id)
	}
	inner := newFrame(frame, len(l.types), id)
	variables := inner.data
	l.fill(variables)
	if !c.begin(l, frame, variables) {
		c.callee.Store(&callee{layout: layout{types: l.types}}) // argument types never change
		return c.left(frame)
	}
	c.y.runBody(c.function.Body().start.exec, inner)
	if c.receiver != nil {
		c.receive(&l.layout, frame, variables)
	}
	if c.no != nil && !*(*bool)(variables[0].ptr) {
		return c.no
	}
	return c.yes
}

// runAgain makes the call of a function whose frames are reused.
func (c *call) runAgain(l *callee, frame *Frame, id uint64) Step {
	a := l.activations.take(frame, id)
	if !c.begin(l, frame, a.variables) {
		c.callee.Store(&callee{layout: layout{types: l.types}})
		return c.left(frame)
	}
	c.y.runBody(c.function.Body().start.exec, a.frame)
	if c.receiver != nil {
		c.receive(&l.layout, frame, a.variables)
	}
	next := c.yes
	if c.no != nil && !*(*bool)(a.variables[0].ptr) {
		next = c.no
	}
	l.activations.release(a)
	return next
}

// begin assigns the arguments to the variables of the function. It returns false if the types of
// arguments or results differ from those of the variables.
func (c *call) begin(l *callee, frame *Frame, variables []Value) bool {
	for i := range c.results {
		to := c.results[i].In(frame)
		switch {
		case to == &c.dropped:
		case to.typ != variables[i].typ || to.flag&variable == 0:
			return false
		case c.receiver == nil:
			variables[i] = *to // as in yaegi: a method sets the result at its end
		}
	}
	at := len(c.results)
	if c.receiver != nil {
		if c.made.In(frame).typ != nil || !setReceiver(&variables[at], c.receiver(frame)) {
			return false
		}
		at++
	}
	return c.pass(&l.layout, frame, variables, at)
}

// pass assigns the arguments to the variables of the function, the first to variable at. It returns
// false if the type of an argument differs from that of its variable.
func (o *operands) pass(l *layout, frame *Frame, variables []Value, at int) bool {
	for i := range o.args {
		from := o.args[i].In(frame)
		if from.typ != variables[at+i].typ {
			return false
		}
		l.copy(at+i, &variables[at+i], from)
	}
	return true
}

// receive assigns the results, which are the function's first variables.
func (o *operands) receive(l *layout, frame *Frame, variables []Value) {
	for i := range o.results {
		if to := o.results[i].In(frame); to != &o.dropped {
			l.copy(i, to, &variables[i])
		}
	}
}

// left makes the call by yaegi's step.
func (c *call) left(frame *Frame) Step {
	if c.receiver != nil && c.made.In(frame).typ == nil {
		c.make(frame)
	}
	return c.plain(frame)
}

// setReceiver sets the receiver of a method to a value, to its target, or to its address.
func setReceiver(to *Value, from reflect.Value) bool {
	if !from.IsValid() {
		return false
	}
	if v := valueOf(&from); v.isOf(to.typ) {
		if isWord[to.flag&kindMask] {
			*(*unsafe.Pointer)(to.ptr) = *(*unsafe.Pointer)(v.address())
		} else {
			move(to.typ, to.ptr, v.address())
		}
		return true
	}
	receiver := to.reflect()
	if from.Type() != receiver.Type() {
		switch {
		case from.Kind() == reflect.Pointer:
			from = from.Elem()
		case from.CanAddr():
			from = from.Addr()
		}
		if !from.IsValid() || from.Type() != receiver.Type() {
			return false
		}
	}
	receiver.Set(from)
	return true
}
