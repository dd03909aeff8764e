package run

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/traefik/yaegi/interp"
)

// Comparisons of ints that a branch depends on, sums, differences and products of ints, i++, i--, and s += n have steps of ours too, which read and write variables
// where they are. Each looks whether its operands are ints, and otherwise leaves them to yaegi's step.

// value is a reflect.Value: one of a kind other than pointers and their likes has a pointer to it.
type value struct {
	typ, ptr unsafe.Pointer
	flag     uintptr
}

// Of a flag: the kind, and that the value is a variable.
const (
	kindMask = 1<<5 - 1
	variable = 1 << 8
)

func (v *value) isInt() bool { return v.flag&kindMask == uintptr(reflect.Int) }

func (v *value) isVariable(kind reflect.Kind) bool {
	return v.flag&(kindMask|variable) == uintptr(kind)|variable
}

// places tells where frames have their values, and where the nodes of trees say which of them is theirs.
type places struct {
	findex, level, sym, rval uintptr // offsets in a node
	index, global            uintptr // in a symbol
	data, root               uintptr // in a frame
}

// newPlaces looks whether nodes, symbols and frames have the fields that are needed.
func newPlaces(node reflect.Type) (*places, error) {
	p := &places{}
	frame, ok1 := reflect.TypeFor[interp.Interpreter]().FieldByName("frame")
	symbol, ok2 := node.FieldByName("sym")
	if !ok1 || !ok2 || frame.Type.Kind() != reflect.Pointer || symbol.Type.Kind() != reflect.Pointer {
		return nil, fmt.Errorf("interp: %s has no symbol, or the interpreter no frame", node)
	}
	for _, f := range []struct {
		of     reflect.Type
		name   string
		kind   reflect.Kind
		offset *uintptr
	}{
		{node, "findex", reflect.Int, &p.findex}, {node, "level", reflect.Int, &p.level}, {node, "sym", reflect.Pointer, &p.sym},
		{node, "rval", reflect.Struct, &p.rval},
		{symbol.Type.Elem(), "index", reflect.Int, &p.index}, {symbol.Type.Elem(), "global", reflect.Bool, &p.global},
		{frame.Type.Elem(), "data", reflect.Slice, &p.data}, {frame.Type.Elem(), "root", reflect.Pointer, &p.root},
	} {
		field, ok := f.of.FieldByName(f.name)
		if !ok || field.Type.Kind() != f.kind {
			return nil, fmt.Errorf("interp: %s has no field %s of kind %s", f.of, f.name, f.kind)
		}
		*f.offset = field.Offset
	}
	number := 7
	if v := reflect.ValueOf(&number).Elem(); unsafe.Sizeof(v) != unsafe.Sizeof(value{}) || !asValue(&v).isVariable(reflect.Int) || asValue(&v).ptr != unsafe.Pointer(&number) {
		return nil, fmt.Errorf("interp: values of package reflect are not what they were")
	}
	return p, nil
}

func asValue(v *reflect.Value) *value { return (*value)(unsafe.Pointer(v)) }

// place is where an operand is: in the frame of a function, among the package-level variables, or a constant.
type place struct {
	*places
	offset   uintptr
	global   bool
	constant *value
}

// in returns the operand for a frame. It is small enough to be inlined.
func (p place) in(frame unsafe.Pointer) *value {
	if p.constant != nil {
		return p.constant
	}
	if p.global {
		frame = *(*unsafe.Pointer)(unsafe.Add(frame, p.root))
	}
	return (*value)(unsafe.Add(*(*unsafe.Pointer)(unsafe.Add(frame, p.data)), p.offset))
}

// placeOf returns where the value of a node is, once its step has been made. It is not ok if that is in the frame of another function.
func (n *nodes) placeOf(node unsafe.Pointer) (p place, ok bool) {
	p.places = n.places
	if v := (*reflect.Value)(unsafe.Add(node, n.rval)); v.IsValid() {
		c := *asValue(v)
		p.constant = &c
		return p, c.isInt()
	}
	index := *(*int)(unsafe.Add(node, n.findex))
	if symbol := *(*unsafe.Pointer)(unsafe.Add(node, n.sym)); symbol != nil {
		index, p.global = *(*int)(unsafe.Add(symbol, n.index)), *(*bool)(unsafe.Add(symbol, n.global))
	}
	p.offset = uintptr(index) * unsafe.Sizeof(value{})
	return p, index >= 0 && (p.global || *(*int)(unsafe.Add(node, n.level)) == 0)
}

// comparisons say, for yaegi's generators, whether the comparison holds if the first operand is less, equal, or more.
var comparisons = map[string][3]bool{
	"lower": {true, false, false}, "lowerEqual": {true, true, false}, "equal": {false, true, false},
	"notEqual": {true, false, true}, "greaterEqual": {false, true, true}, "greater": {false, false, true},
}

// additions are yaegi's generators of what adds to a variable, and the sign.
var additions = map[string]int{"inc": 1, "dec": -1, "addAssign": 1, "subAssign": -1}

// arithmetic are yaegi's generators of operations on two numbers.
var arithmetic = map[string]func(x, y int) int{
	"add": func(x, y int) int { return x + y }, "sub": func(x, y int) int { return x - y }, "mul": func(x, y int) int { return x * y },
}

// quicken makes a node generate a step of ours, if it is one of these operations.
func (rt *Runtime) quicken(node unsafe.Pointer) {
	n := rt.yaegi.nodes
	gen := n.genOf(node)
	if *gen == nil {
		return
	}
	list := n.childrenOf(node)
	name := n.generatorName(*gen)
	if holds, ok := comparisons[name]; ok && len(list) == 2 && *(*unsafe.Pointer)(unsafe.Add(node, n.fnext)) != nil {
		n.wrap(gen, func(plain step) step { return n.comparing(node, list, holds, plain) })
	}
	if operation := arithmetic[name]; operation != nil && len(list) == 2 {
		n.wrap(gen, func(plain step) step { return n.computing(node, list, operation, plain) })
	}
	if name == "convert" && len(list) == 2 {
		n.wrap(gen, func(plain step) step { return n.converting(node, list[1], plain) })
	}
	if sign, ok := additions[name]; ok && len(list) > 0 && *(*unsafe.Pointer)(unsafe.Add(list[0], n.sym)) != nil {
		n.wrap(gen, func(plain step) step { return n.adding(node, list, sign, plain) })
	}
}

// comparing is the step of a comparison.
func (n *nodes) comparing(node unsafe.Pointer, operands []unsafe.Pointer, holds [3]bool, plain step) step {
	a, ok1 := n.placeOf(operands[0])
	b, ok2 := n.placeOf(operands[1])
	result, ok3 := n.placeOf(node)
	if !ok1 || !ok2 || !ok3 || result.constant != nil {
		return plain
	}
	yes, no := n.stepAt(node, n.next), n.stepAt(node, n.fnext)
	less, same, more := holds[0], holds[1], holds[2]
	return func(frame unsafe.Pointer) step {
		a, b, result := a.in(frame), b.in(frame), result.in(frame)
		if !a.isInt() || !b.isInt() || !result.isVariable(reflect.Bool) {
			return plain(frame)
		}
		x, y := *(*int)(a.ptr), *(*int)(b.ptr)
		is := same
		switch {
		case x < y:
			is = less
		case x > y:
			is = more
		}
		*(*bool)(result.ptr) = is
		if is {
			return yes
		}
		return no
	}
}

// computing is the step of an operation on two numbers.
func (n *nodes) computing(node unsafe.Pointer, operands []unsafe.Pointer, operation func(x, y int) int, plain step) step {
	a, ok1 := n.placeOf(operands[0])
	b, ok2 := n.placeOf(operands[1])
	result, ok3 := n.placeOf(node)
	if !ok1 || !ok2 || !ok3 || result.constant != nil {
		return plain
	}
	next := n.stepAt(node, n.next)
	return func(frame unsafe.Pointer) step {
		a, b, result := a.in(frame), b.in(frame), result.in(frame)
		if !a.isInt() || !b.isInt() || !result.isVariable(reflect.Int) {
			return plain(frame)
		}
		*(*int)(result.ptr) = operation(*(*int)(a.ptr), *(*int)(b.ptr))
		return next
	}
}

// adding is the step of what adds to a variable.
func (n *nodes) adding(node unsafe.Pointer, operands []unsafe.Pointer, sign int, plain step) step {
	to, ok := n.placeOf(operands[0])
	if !ok || to.constant != nil {
		return plain
	}
	next := n.stepAt(node, n.next)
	if len(operands) == 1 {
		return func(frame unsafe.Pointer) step {
			to := to.in(frame)
			if !to.isVariable(reflect.Int) {
				return plain(frame)
			}
			*(*int)(to.ptr) += sign
			return next
		}
	}
	from, ok := n.placeOf(operands[1])
	if !ok {
		return plain
	}
	return func(frame unsafe.Pointer) step {
		to, from := to.in(frame), from.in(frame)
		if !to.isVariable(reflect.Int) || !from.isInt() {
			return plain(frame)
		}
		*(*int)(to.ptr) += sign * *(*int)(from.ptr)
		return next
	}
}
