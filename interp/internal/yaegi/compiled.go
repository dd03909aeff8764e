package yaegi

import (
	"reflect"
	"unsafe"
)

// Calls of compiled functions have their own step, which neither uses package reflect nor
// allocates, except for the arguments of a variadic parameter. Functions that this package cannot call
// use yaegi's step.

// CallCompiled replaces the step of a call of a compiled function or method.
func (y *Interpreter) CallCompiled(node *Node) {
	if parent := node.anc.kind; parent == kinds.goStmt || parent == kinds.deferStmt {
		return
	}
	function := node.child[0]
	if function.typ == nil || function.typ.val != nil || function.typ.rtype == nil || function.typ.rtype.Kind() != reflect.Func {
		return
	}
	c := &compiledCall{y: y, typ: function.typ.rtype}
	if function.recv != nil && !c.selected(function) {
		return
	}
	node.Wrap(func(plain Step) Step { return c.step(node, plain) })
}

// compiledCall is a call of a compiled function or method.
type compiledCall struct {
	y         *Interpreter
	typ       reflect.Type
	signature *signature
	function  Place // for a function
	args      []Place
	fixed     int  // number of arguments that are not elements of a slice
	variadic  bool // the other arguments are
	results   []destination
	own       bool // the call's step is this package's
	plain     Step
	yes, no   Step // following steps; no is nil unless the call is a condition

	// For a variadic function:
	element     unsafe.Pointer // type of the elements
	elementSize uintptr

	// For a method:
	code     unsafe.Pointer // a function whose first parameter is the receiver
	receiver Place          // the operand of the selection
	operand  unsafe.Pointer // its type
	reach    reach
	made     Place // where yaegi stores the function that it makes of the method
	make     Step  // yaegi's step that makes it
}

// destination is the destination of a result.
type destination struct {
	place  Place
	unused bool
	fresh  bool // the variable is new
}

// reach is the way from the operand of a selection to the receiver.
type reach int

const (
	direct    reach = iota
	target          // *x
	addressOf       // &x
)

// reaches has the generators of the selections of methods of compiled types.
var reaches = map[string]reach{"getIndexBinMethod": direct, "getIndexBinElemMethod": target, "getIndexBinPtrMethod": addressOf}

// selected makes the call one of the method that a node selects. It returns false if that is not
// possible.
func (c *compiledCall) selected(node *Node) bool {
	var known bool
	if c.reach, known = reaches[c.y.Generator(node)]; !known || c.typ.NumIn() == 0 {
		return false
	}
	index, ok := node.val.(int)
	receiver := c.typ.In(0)
	if !ok || receiver.Kind() == reflect.Interface || index >= receiver.NumMethod() {
		return false
	}
	method := receiver.Method(index)
	if method.Type != c.typ {
		return false
	}
	f, _ := FunctionOf(method.Func)
	c.code = unsafe.Pointer(f)
	switch c.reach {
	case direct:
		c.operand = asType(receiver)
	case target:
		c.operand = asType(reflect.PointerTo(receiver))
	case addressOf:
		if receiver.Kind() != reflect.Pointer {
			return false
		}
		c.operand = asType(receiver.Elem())
	}
	node.Wrap(func(plain Step) Step { return c.selecting(node, plain) })
	return true
}

// step returns the step of the call; plain is yaegi's.
func (c *compiledCall) step(node *Node, plain Step) Step {
	c.plain, c.yes, c.no = plain, node.Next(), node.Otherwise()
	c.args, c.results = nil, nil
	c.own = c.find(node)
	if !c.own {
		return plain
	}
	if c.typ.NumIn() == 0 && c.typ.NumOut() == 0 {
		return c.procedure
	}
	return c.run
}

// find finds the places of the function, the arguments and the results. It returns false if yaegi's
// step has to be used.
func (c *compiledCall) find(node *Node) bool {
	var ok bool
	if c.code == nil {
		if c.function, ok = node.child[0].Place(); !ok {
			return false
		}
	}
	if c.signature = newSignature(c.typ); c.signature == nil {
		return false
	}
	return c.findArguments(node) && c.findResults(node)
}

func (c *compiledCall) findArguments(node *Node) bool {
	args := node.child[1:]
	for _, arg := range args {
		if arg.countsMany() {
			return false
		}
		genValue(arg) // as a side effect, it converts a constant
		p, ok := arg.Place()
		if !ok {
			return false
		}
		c.args = append(c.args, p)
	}
	c.fixed = len(c.signature.in)
	if c.code != nil {
		c.fixed-- // the receiver
	}
	c.variadic = c.typ.IsVariadic() && node.action != actions.callSlice
	if !c.variadic {
		return len(args) == c.fixed
	}
	c.fixed--
	element := c.typ.In(c.typ.NumIn() - 1).Elem()
	c.element, c.elementSize = asType(element), element.Size()
	return len(args) >= c.fixed
}

// countsMany reports whether an argument is a call with several results.
func (n *Node) countsMany() bool {
	if n.kind != kinds.callExpr || len(n.child) == 0 || n.child[0].typ == nil {
		return false
	}
	switch t := n.child[0].typ; {
	case len(t.ret) > 0:
		return len(t.ret) != 1
	case t.rtype != nil && t.rtype.Kind() == reflect.Func:
		return t.rtype.NumOut() != 1
	}
	return false
}

func (c *compiledCall) findResults(node *Node) bool {
	first, ok := node.Place()
	for i := range c.signature.out {
		if c.typ.Out(i).Kind() == reflect.Func {
			return false // yaegi replaces the variable
		}
		d := destination{place: first}
		d.place.offset += uintptr(i) * unsafe.Sizeof(Value{})
		switch parent := node.anc; {
		case c.no != nil: // a condition
		case parent.kind == kinds.defineXStmt || parent.kind == kinds.assignXStmt:
			to := parent.child[i]
			d.unused = to.ident == "_"
			d.fresh = parent.kind == kinds.defineXStmt && !to.redeclared
			d.place, ok = to.Result()
			ok = ok || d.unused
		case parent.kind == kinds.returnStmt:
			at := parent.childPosition(node)
			d.place = Place{offset: uintptr(at+i) * unsafe.Sizeof(Value{})}
			ok = at >= 0
		}
		if !ok || d.place.constant != nil && !d.unused {
			return false
		}
		c.results = append(c.results, d)
	}
	return true
}

// selecting returns the step of the selection of a method. It makes no function value if the call
// does not need one.
func (c *compiledCall) selecting(node *Node, plain Step) Step {
	var ok1, ok2 bool
	c.receiver, ok1 = node.child[0].Place()
	c.made, ok2 = node.Result()
	c.make = plain
	if !c.own || !ok1 || !ok2 {
		c.receiver = Place{constant: &Value{}} // of no type
		return plain
	}
	next := node.Next()
	return func(frame *Frame) Step {
		if !c.hasReceiver(frame) {
			return plain(frame)
		}
		*c.made.In(frame) = Value{}
		return next
	}
}

// hasReceiver reports whether a frame has the receiver, as a value that is not a nil pointer to it.
func (c *compiledCall) hasReceiver(frame *Frame) bool {
	v := c.receiver.In(frame)
	return v.isOf(c.operand) && (c.reach != target || *(*unsafe.Pointer)(v.address()) != nil) &&
		(c.reach != addressOf || v.flag&variable != 0)
}

// passReceiver passes the receiver.
func (c *compiledCall) passReceiver(r *registers, frame *Frame) {
	v, o := c.receiver.In(frame), &c.signature.in[0]
	switch c.reach {
	case direct:
		o.pass(r, v.address())
	case target:
		o.pass(r, *(*unsafe.Pointer)(v.address()))
	case addressOf:
		o.pass(r, unsafe.Pointer(&v.ptr))
	}
}

// run makes the call.
func (c *compiledCall) run(frame *Frame) Step {
	var r registers
	in, function := c.signature.in, c.code
	if function != nil {
		if c.made.In(frame).typ != nil || !c.hasReceiver(frame) {
			return c.left(frame)
		}
		c.passReceiver(&r, frame)
		in = in[1:]
	} else if function = c.functionIn(frame); function == nil {
		return c.plain(frame)
	}
	for i := range c.fixed {
		v, o := c.args[i].In(frame), &in[i]
		switch {
		case v.isOf(o.typ) && !c.y.isBoxed(v):
			o.pass(&r, v.address())
		case o.typ == anyType && c.y.canBeAny(v):
			held := v.any()
			o.pass(&r, unsafe.Pointer(&held))
		default:
			return c.left(frame)
		}
	}
	if c.variadic && !c.passSlice(&r, frame) {
		return c.left(frame)
	}
	for i := range c.results {
		if !c.canStore(i, frame) {
			return c.left(frame)
		}
	}
	if c.signature.few {
		callWords(function, &r, c.signature.pointers)
	} else {
		callAny(function, &r, c.signature.pointers)
	}
	for i := range c.results {
		c.store(i, &r, frame)
	}
	if c.no != nil && !*(*bool)(c.results[0].place.In(frame).ptr) {
		return c.no
	}
	return c.yes
}

// procedure makes the call of a function without arguments or results.
func (c *compiledCall) procedure(frame *Frame) Step {
	function := c.functionIn(frame)
	if function == nil {
		return c.plain(frame)
	}
	(*(*func())(unsafe.Pointer(&function)))()
	return c.yes
}

// left makes the call by yaegi's step.
func (c *compiledCall) left(frame *Frame) Step {
	if c.code != nil && c.made.In(frame).typ == nil {
		c.make(frame)
	}
	return c.plain(frame)
}

// functionIn returns the function, or nil if it is nil or not a compiled function of the type.
func (c *compiledCall) functionIn(frame *Frame) unsafe.Pointer {
	v := c.function.In(frame)
	if !v.isOf(asType(c.typ)) {
		return nil
	}
	f, _ := v.Function()
	return unsafe.Pointer(f)
}

// passSlice makes the slice of a variadic parameter and passes it. It returns false if an argument
// has another type than the elements.
func (c *compiledCall) passSlice(r *registers, frame *Frame) bool {
	args := c.args[c.fixed:]
	if len(args) == 0 {
		return true // r is zero
	}
	slice := struct {
		header
		cap int
	}{header{allocateArray(c.element, len(args)), len(args)}, len(args)}
	for i := range args {
		v, to := args[i].In(frame), unsafe.Add(slice.data, uintptr(i)*c.elementSize)
		switch {
		case v.isOf(c.element) && !c.y.isBoxed(v):
			move(c.element, to, v.address())
		case c.element == anyType && c.y.canBeAny(v):
			*(*any)(to) = v.any()
		default:
			return false
		}
	}
	c.signature.in[len(c.signature.in)-1].pass(r, unsafe.Pointer(&slice))
	return true
}

// canStore reports whether a frame has a variable for result i.
func (c *compiledCall) canStore(i int, frame *Frame) bool {
	d := &c.results[i]
	if d.unused {
		return true
	}
	to := d.place.In(frame)
	return to.typ == c.signature.out[i].typ && to.flag&variable != 0 && !c.y.isBoxed(to)
}

// store stores result i.
func (c *compiledCall) store(i int, r *registers, frame *Frame) {
	d := &c.results[i]
	if d.unused {
		return
	}
	to := d.place.In(frame)
	if d.fresh {
		to.ptr = allocate(to.typ)
	}
	c.signature.out[i].receive(r, to.ptr)
}
