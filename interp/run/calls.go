package run

import (
	"reflect"
	"sync/atomic"
	"unsafe"
)

// Calls of functions and methods of cells have a step of ours. For each, yaegi allocates every variable of the function by itself, and makes
// a function of compiled code of a method, which it calls by reflection. Here variables that have no pointers in them are allocated together,
// and the body of a method runs as that of a function does. Calls with interfaces or functions among the arguments or results are left to
// yaegi, which converts those.

//go:linkname newFrame github.com/traefik/yaegi/interp.newFrame
func newFrame(caller unsafe.Pointer, length int, id uint64) unsafe.Pointer

// receiverOf returns how to evaluate the receiver of a method in a frame.
//
//go:linkname receiverOf github.com/traefik/yaegi/interp.genValueRecv
func receiverOf(node unsafe.Pointer) func(frame unsafe.Pointer) reflect.Value

// call is a call of a function or method of a cell.
type call struct {
	rt       *Runtime
	function unsafe.Pointer // its node, whose contents change when it is defined again
	args     []place
	results  []place // where the caller has them, dropped those that it does not want
	own      bool    // the step is ours; it is made before that of the selection of a method
	layout   atomic.Pointer[layout]
	plain    step
	yes, no  step  // what follows; no is nil but for a condition
	dropped  value // the place of results that the caller does not want

	receiver func(frame unsafe.Pointer) reflect.Value // nil for a function
	made     place                                    // where yaegi puts what it makes of a method
	make     step                                     // yaegi's step that makes it
}

// newCall returns the call of a node, nil for one of something else than a known function or method of a cell.
func (rt *Runtime) newCall(node unsafe.Pointer, list []unsafe.Pointer) *call {
	n := rt.yaegi.nodes
	if parent := n.kindOf(n.pointer(node, n.parent)); parent == n.goStmt || parent == n.deferStmt {
		return nil
	}
	c := &call{rt: rt}
	gen, symbol := n.genOf(list[0]), n.pointer(list[0], n.sym)
	isMethod := *gen != nil && n.generatorName(*gen) == "getMethod"
	switch {
	case isMethod:
		c.function = (*[2]unsafe.Pointer)(unsafe.Add(list[0], n.val))[1] // what the interface points to
	case symbol != nil && *(*int)(unsafe.Add(symbol, n.index)) < 0:
		c.function = n.pointer(symbol, n.symNode)
	}
	if c.function == nil || !n.isFunction(c.function) {
		return nil
	}
	if isMethod {
		n.wrap(gen, func(plain step) step { return c.selecting(list[0], plain) })
	}
	return c
}

// selecting is the step of the selection of a method. It leaves nothing there if the call does not need what yaegi makes of the method.
func (c *call) selecting(node unsafe.Pointer, plain step) step {
	if !c.own {
		return plain
	}
	n := c.rt.yaegi.nodes
	c.receiver, c.make = receiverOf(node), plain
	c.made, _ = n.placeOf(node)
	next := n.stepAt(node, n.next)
	return func(frame unsafe.Pointer) step {
		if !c.current().simple {
			return plain(frame)
		}
		*c.made.in(frame) = value{}
		return next
	}
}

// step returns the step of the call, whose own is plain.
func (c *call) step(node unsafe.Pointer, list []unsafe.Pointer, plain step) step {
	n := c.rt.yaegi.nodes
	c.args, c.results = nil, nil
	c.plain, c.yes, c.no = plain, n.stepAt(node, n.next), n.stepAt(node, n.fnext)
	typ := n.pointer(list[0], n.typ)
	if n.lenOf(typ, n.arg) != len(list)-1 {
		return plain
	}
	for _, arg := range list[1:] {
		operand(arg) // converts a constant
		p, ok := n.placeOf(arg)
		if !ok {
			return plain
		}
		c.args = append(c.args, p)
	}
	parent := n.pointer(node, n.parent)
	first, ok := n.placeOf(node)
	kind := n.kindOf(parent)
	for i := range n.lenOf(typ, n.ret) {
		p := first
		p.offset += uintptr(i) * unsafe.Sizeof(value{})
		if kind == n.returnStmt {
			p.level = 0
		}
		if (kind == n.defineXStmt || kind == n.assignXStmt) && n.nameOf(n.childrenOf(parent)[i]) == "_" {
			p = place{constant: &c.dropped}
		}
		if !ok {
			return plain
		}
		c.results = append(c.results, p)
	}
	c.own = true
	return c.run
}

// current returns the layout of the function as it is defined now.
func (c *call) current() *layout {
	n := c.rt.yaegi.nodes
	types := *(*[]reflect.Type)(unsafe.Add(c.function, n.types))
	l := c.layout.Load()
	if l == nil || !l.isOf(types) {
		inputs := len(c.args)
		if c.receiver != nil {
			inputs++
		}
		l = newLayout(types, len(c.results)+inputs, c.rt.yaegi.boxes)
		l.simple = l.simple && !(*reflect.Value)(unsafe.Add(c.function, n.rval)).IsValid()
		if l.simple && c.receiver == nil {
			l.activations = n.activations(c.function, l)
		}
		c.layout.Store(l)
	}
	return l
}

// run makes the call.
func (c *call) run(frame unsafe.Pointer) step {
	l := c.current()
	if !l.simple {
		return c.left(frame)
	}
	n := c.rt.yaegi.nodes
	id := atomic.LoadUint64((*uint64)(unsafe.Add(frame, n.id)))
	if l.activations != nil {
		return c.runAgain(l, frame, id)
	}
	callee := newFrame(frame, len(l.types), id)
	variables := *(*[]value)(unsafe.Add(callee, n.data))
	l.fill(variables)
	if !c.begin(l, frame, variables) {
		c.layout.Store(&layout{types: l.types}) // types of arguments do not change
		return c.left(frame)
	}
	start := n.pointer(n.childrenOf(c.function)[bodyChild], n.start)
	c.rt.runBody(*n.execOf(start), callee)
	if c.receiver != nil {
		for i := range c.results {
			if to := c.results[i].in(frame); to != &c.dropped {
				l.copy(i, to, &variables[i])
			}
		}
	}
	if c.no != nil && !*(*bool)(variables[0].ptr) {
		return c.no
	}
	return c.yes
}

// runAgain makes the call of a function whose frames are used again.
func (c *call) runAgain(l *layout, frame unsafe.Pointer, id uint64) step {
	n := c.rt.yaegi.nodes
	a := l.activations.take(n.places, frame, id)
	if !c.begin(l, frame, a.variables) {
		c.layout.Store(&layout{types: l.types})
		return c.left(frame)
	}
	c.rt.runBody(*n.execOf(n.pointer(n.childrenOf(c.function)[bodyChild], n.start)), a.frame)
	next := c.yes
	if c.no != nil && !*(*bool)(a.variables[0].ptr) {
		next = c.no
	}
	l.activations.release(n.places, a)
	return next
}

// begin gives the variables of the function the arguments. It returns false for arguments and results of other types than those.
func (c *call) begin(l *layout, frame unsafe.Pointer, variables []value) bool {
	for i := range c.results {
		to := c.results[i].in(frame)
		switch {
		case to == &c.dropped:
		case to.typ != variables[i].typ || to.flag&variable == 0:
			return false
		case c.receiver == nil:
			variables[i] = *to // as yaegi does: a method sets it at the end
		}
	}
	at := len(c.results)
	if c.receiver != nil {
		if c.made.in(frame).typ != nil || !setReceiver(&variables[at], c.receiver(frame)) {
			return false
		}
		at++
	}
	for i := range c.args {
		from := c.args[i].in(frame)
		if from.typ != variables[at+i].typ {
			return false
		}
		l.copy(at+i, &variables[at+i], from)
	}
	return true
}

// left leaves the call to yaegi.
func (c *call) left(frame unsafe.Pointer) step {
	if c.receiver != nil && c.made.in(frame).typ == nil {
		c.make(frame)
	}
	return c.plain(frame)
}

// setReceiver sets the receiver of a method to a value, or to what that points to, or its address.
func setReceiver(to *value, from reflect.Value) bool {
	receiver := (*reflect.Value)(unsafe.Pointer(to))
	if !from.IsValid() {
		return false
	}
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

// runBody runs the body of a function in its frame, as yaegi does.
//
//go:noinline
func (rt *Runtime) runBody(next step, frame unsafe.Pointer) {
	id := (*uint64)(unsafe.Add(frame, rt.yaegi.nodes.id))
	for next != nil && atomic.LoadUint64(id) == atomic.LoadUint64(rt.yaegi.runID) {
		next = next(frame)
	}
}
