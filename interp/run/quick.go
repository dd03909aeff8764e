package run

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/traefik/yaegi/interp"
)

// Assignments and returns have steps of ours too, if the operands are numbers or bools: they read and write variables where they are. Each looks at its operands, and
// otherwise leaves them to yaegi's step.

// value is a reflect.Value: one of a kind other than pointers and their likes has a pointer to it.
type value struct {
	typ, ptr unsafe.Pointer
	flag     uintptr
}

// Of a flag: the kind, that the value has a pointer to it, and that it is a variable.
const (
	kindMask = 1<<5 - 1
	indirect = 1 << 7
	variable = 1 << 8
)

func (v *value) is(kind reflect.Kind) bool { return v.flag&kindMask == uintptr(kind) }

func (v *value) isInt() bool { return v.is(reflect.Int) }

// integer returns an int, byte or rune.
func (v *value) integer() (n int, ok bool) {
	switch reflect.Kind(v.flag & kindMask) {
	case reflect.Int:
		return *(*int)(v.ptr), true
	case reflect.Uint8:
		return int(*(*uint8)(v.ptr)), true
	case reflect.Int32:
		return int(*(*int32)(v.ptr)), true
	}
	return 0, false
}

func (v *value) int() *int { return (*int)(v.ptr) }

func (v *value) isVariable(kind reflect.Kind) bool {
	return v.flag&(kindMask|variable) == uintptr(kind)|variable
}

// places tells where frames have their values, and where the nodes of trees say which of them is theirs.
type places struct {
	findex, level, sym, rval, parent, typ, val, types, recv uintptr // offsets in a node
	index, global, symNode                                  uintptr // in a symbol
	arg, ret                                                uintptr // in a type
	data, root, anc, id                                     uintptr // in a frame
}

// newPlaces looks whether nodes, symbols and frames have the fields that are needed.
func newPlaces(node reflect.Type) (*places, error) {
	p := &places{}
	frame, ok1 := reflect.TypeFor[interp.Interpreter]().FieldByName("frame")
	symbol, ok2 := node.FieldByName("sym")
	typ, ok3 := node.FieldByName("typ")
	if !ok1 || !ok2 || !ok3 || frame.Type.Kind() != reflect.Pointer || symbol.Type.Kind() != reflect.Pointer || typ.Type.Kind() != reflect.Pointer {
		return nil, fmt.Errorf("interp: %s has no symbol or type, or the interpreter no frame", node)
	}
	for _, f := range []struct {
		of     reflect.Type
		name   string
		kind   reflect.Kind
		offset *uintptr
	}{
		{node, "findex", reflect.Int, &p.findex}, {node, "level", reflect.Int, &p.level}, {node, "sym", reflect.Pointer, &p.sym},
		{node, "rval", reflect.Struct, &p.rval}, {node, "anc", reflect.Pointer, &p.parent}, {node, "typ", reflect.Pointer, &p.typ},
		{node, "val", reflect.Interface, &p.val}, {node, "types", reflect.Slice, &p.types}, {node, "recv", reflect.Pointer, &p.recv},
		{symbol.Type.Elem(), "index", reflect.Int, &p.index}, {symbol.Type.Elem(), "global", reflect.Bool, &p.global},
		{symbol.Type.Elem(), "node", reflect.Pointer, &p.symNode},
		{typ.Type.Elem(), "arg", reflect.Slice, &p.arg}, {typ.Type.Elem(), "ret", reflect.Slice, &p.ret},
		{frame.Type.Elem(), "data", reflect.Slice, &p.data}, {frame.Type.Elem(), "root", reflect.Pointer, &p.root},
		{frame.Type.Elem(), "anc", reflect.Pointer, &p.anc}, {frame.Type.Elem(), "id", reflect.Uint64, &p.id},
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

func asType(t reflect.Type) unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1] }

func asValue(v *reflect.Value) *value { return (*value)(unsafe.Pointer(v)) }

// place is where an operand is: in the frame of a function or of one around it, among the package-level variables, or a constant.
type place struct {
	*places
	offset   uintptr
	level    int // of the functions around; packageLevel for package-level variables
	constant *value
}

const packageLevel = -1

// in returns the operand for a frame. It is small enough to be inlined.
func (p *place) in(frame unsafe.Pointer) *value {
	if p.constant != nil {
		return p.constant
	}
	if p.level != 0 {
		frame = p.outer(frame)
	}
	return (*value)(unsafe.Add(*(*unsafe.Pointer)(unsafe.Add(frame, p.data)), p.offset))
}

// outer returns the frame that has the operand.
func (p *place) outer(frame unsafe.Pointer) unsafe.Pointer {
	if p.level == packageLevel {
		return *(*unsafe.Pointer)(unsafe.Add(frame, p.root))
	}
	for range p.level {
		frame = *(*unsafe.Pointer)(unsafe.Add(frame, p.anc))
	}
	return frame
}

// placeOf returns where the value of a node is, once its step has been made. It is not ok if it has none.
func (n *nodes) placeOf(node unsafe.Pointer) (p place, ok bool) {
	p.places = n.places
	if v := (*reflect.Value)(unsafe.Add(node, n.rval)); v.IsValid() {
		c := *asValue(v)
		p.constant = &c
		return p, true
	}
	index := *(*int)(unsafe.Add(node, n.findex))
	p.level = *(*int)(unsafe.Add(node, n.level))
	if symbol := n.pointer(node, n.sym); symbol != nil {
		index = *(*int)(unsafe.Add(symbol, n.index))
		if *(*bool)(unsafe.Add(symbol, n.global)) {
			p.level = packageLevel
		}
	}
	p.offset = uintptr(index) * unsafe.Sizeof(value{})
	return p, index >= 0
}

// pointer returns a field of a node that is a pointer.
func (n *nodes) pointer(node unsafe.Pointer, field uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Add(node, field))
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
	use := func(other func(plain step) step) { n.wrap(gen, other) }
	if calculations[name] {
		use(func(plain step) step { return n.calculating(node, list, name, plain) })
	}
	if bits := sliceBits[name]; bits != nil {
		use(func(plain step) step { return rt.slicing(node, list, bits, plain) })
	}
	switch {
	case name == "getIndexArray":
		use(func(plain step) step { return rt.indexing(node, list, plain) })
	case name == "assign" && len(list) == 2 && n.kindOf(node) == n.assignStmt && n.isPlace(list[0]):
		use(func(plain step) step { return n.copying(node, list, plain) })
	case name == "convert" && len(list) == 2:
		use(func(plain step) step { return n.converting(node, list[1], plain) })
	case name == "_len" && len(list) == 2:
		use(func(plain step) step { return n.measuring(node, list[1], plain) })
	case name == "getMethodByName" && len(list) == 2:
		use(func(plain step) step { return rt.selectingMethod(node, list, plain) })
	case name == "getFunc":
		rt.ownLiteral(node)
	case name == "_return" && 0 < len(list) && len(list) <= mostReturned:
		use(func(plain step) step { return n.returning(list, plain) })
	}
}

// isPlace reports whether what is assigned to is a variable or an element of an array or slice.
func (n *nodes) isPlace(to unsafe.Pointer) bool {
	if n.pointer(to, n.sym) != nil {
		return n.nameOf(to) != "_"
	}
	gen := *n.genOf(to)
	return gen != nil && n.generatorName(gen) == "getIndexArray"
}

// copying is the step of x = y.
func (n *nodes) copying(node unsafe.Pointer, operands []unsafe.Pointer, plain step) step {
	to, ok1 := n.placeOf(operands[0])
	from, ok2 := n.placeOf(operands[1])
	if !ok1 || !ok2 || to.constant != nil {
		return plain
	}
	next := n.stepAt(node, n.next)
	return func(frame unsafe.Pointer) step {
		if !to.in(frame).copy(from.in(frame)) {
			return plain(frame)
		}
		return next
	}
}

// mostReturned is how many values a return with a step of ours has.
const mostReturned = 4

// returning is the step of a return with values, which go to the first places of the frame.
func (n *nodes) returning(operands []unsafe.Pointer, plain step) step {
	var from [mostReturned]place
	for i, operand := range operands {
		var ok bool
		if from[i], ok = n.placeOf(operand); !ok {
			return plain
		}
	}
	count, first := len(operands), place{places: n.places}
	if count == 1 {
		from := from[0]
		return func(frame unsafe.Pointer) step {
			if !first.in(frame).copy(from.in(frame)) {
				return plain(frame)
			}
			return nil
		}
	}
	return func(frame unsafe.Pointer) step {
		to := unsafe.Slice(first.in(frame), count)
		var values [mostReturned]uint64 // read before any is written
		for i := range to {
			v := from[i].in(frame)
			if to[i].typ != v.typ || to[i].flag&variable == 0 || scalarSize[v.flag&kindMask] == 0 {
				return plain(frame)
			}
			values[i] = v.scalar()
		}
		for i := range to {
			to[i].setScalar(values[i])
		}
		return nil
	}
}

// scalarSize is the size of numbers and bools, by kind; 0 for others.
var scalarSize = [kindMask + 1]uint8{
	reflect.Bool: 1, reflect.Int8: 1, reflect.Int16: 2, reflect.Int32: 4, reflect.Int64: 8, reflect.Int: 8, reflect.Uint8: 1, reflect.Uint16: 2,
	reflect.Uint32: 4, reflect.Uint64: 8, reflect.Uint: 8, reflect.Uintptr: 8, reflect.Float32: 4, reflect.Float64: 8,
}

// scalar returns the bits of a number or bool, setScalar sets them.
func (v *value) scalar() uint64 {
	switch scalarSize[v.flag&kindMask] {
	case 8:
		return *(*uint64)(v.ptr)
	case 4:
		return uint64(*(*uint32)(v.ptr))
	case 2:
		return uint64(*(*uint16)(v.ptr))
	}
	return uint64(*(*uint8)(v.ptr))
}

func (v *value) setScalar(bits uint64) {
	switch scalarSize[v.flag&kindMask] {
	case 8:
		*(*uint64)(v.ptr) = bits
	case 4:
		*(*uint32)(v.ptr) = uint32(bits)
	case 2:
		*(*uint16)(v.ptr) = uint16(bits)
	default:
		*(*uint8)(v.ptr) = uint8(bits)
	}
}

// copy sets a variable to another value of its type, if that is a number or bool.
func (v *value) copy(from *value) bool {
	if v.typ != from.typ || v.flag&variable == 0 || scalarSize[v.flag&kindMask] == 0 {
		return false
	}
	v.setScalar(from.scalar())
	return true
}
