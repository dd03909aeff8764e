package yaegi

import (
	"reflect"
	"unsafe"
)

// Compiled functions are called directly, without package reflect: the step of a call copies the
// arguments to where Go's calling convention passes them, calls the function as one whose
// parameters are all words (trampolines.go), and copies the results to their variables. The
// convention is that of Go's internal ABI, as the Go compiler's document of that name has it:
// integers and pointers are passed in one sequence of registers, floats in another, and a parameter
// that does not fit into the rest of them is passed on the stack. Bits of a register beyond a small
// value have no meaning, and neither have registers that the callee does not use.

// Sizes of registers. Functions with more results, or with more on the stack, are left to yaegi.
const (
	floatRegisters = 8 // Go uses at least 15
	intResults     = 4
	floatResults   = 2
	stackWords     = 8
)

const word = unsafe.Sizeof(uintptr(0))

// registers has the arguments of a call, and then its results. Pointers among them are in pointers,
// too, where the garbage collector sees them.
type registers struct {
	ints          [intRegisters]uintptr
	stack         [stackWords]uintptr
	floats        [floatRegisters]float64
	pointers      [intRegisters]unsafe.Pointer
	stackPointers [stackWords]unsafe.Pointer
}

// toPointers is the distance from a pointer in ints or stack to the same pointer in pointers or
// stackPointers.
const toPointers = unsafe.Offsetof(registers{}.pointers)

// piece is a part of a value that is passed in one register, or a part of one on the stack.
type piece struct {
	from, to uintptr // offsets in the value and in registers
	size     uintptr // 0 for a pointer
}

// signature is the layout of a function's arguments and results.
type signature struct {
	in, out  []operand
	few      bool // it is called by callWords
	pointers uint // bit i is set if the result in ints[i] is a pointer
}

// operand is an argument or a result.
type operand struct {
	typ    unsafe.Pointer
	pieces []piece
}

// newSignature returns the signature of a function of type t, or nil if this package cannot call
// it.
func newSignature(t reflect.Type) *signature {
	s := &signature{}
	in := assignment{ints: intRegisters, floats: floatRegisters, allInts: true}
	for i := range t.NumIn() {
		s.in = append(s.in, in.operand(t.In(i)))
	}
	out := assignment{ints: intResults, floats: floatResults}
	for i := range t.NumOut() {
		o := out.operand(t.Out(i))
		for _, p := range o.pieces {
			if p.size == 0 && p.to/word < intResults {
				s.pointers |= 1 << (p.to / word)
			}
		}
		s.out = append(s.out, o)
	}
	if in.failed || out.failed || in.stack > stackWords*word || out.stack > 0 {
		return nil
	}
	s.few = in.stack == 0 && in.int <= fewWords && in.float == 0 && out.float == 0
	return s
}

// assignment assigns arguments or results to registers, in order.
type assignment struct {
	ints, floats int // how many registers this package uses
	allInts      bool
	int, float   int     // how many of them are used
	stack        uintptr // bytes on the stack
	failed       bool    // there would be more registers
}

// operand assigns a value of type t.
func (a *assignment) operand(t reflect.Type) operand {
	o := operand{typ: asType(t)}
	before := *a
	if t.Size() > 0 && a.inRegisters(&o, t, 0) {
		return o
	}
	failed := a.failed
	*a, o.pieces = before, nil
	a.failed = failed
	align := uintptr(t.Align())
	a.stack = (a.stack + align - 1) &^ (align - 1)
	o.onStack(t, 0, unsafe.Offsetof(registers{}.stack)+a.stack)
	a.stack += t.Size()
	return o
}

// inRegisters assigns the part of an operand that has type t and is at an offset. It returns false
// if there are not enough registers.
func (a *assignment) inRegisters(o *operand, t reflect.Type, at uintptr) bool {
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if !a.inRegisters(o, f.Type, at+f.Offset) {
				return false
			}
		}
		return true
	case reflect.Array:
		return t.Len() == 0 || t.Len() == 1 && a.inRegisters(o, t.Elem(), at)
	}
	for _, p := range partsOf(t) {
		used, limit, base := &a.int, a.ints, unsafe.Offsetof(registers{}.ints)
		if p.float {
			used, limit, base = &a.float, a.floats, unsafe.Offsetof(registers{}.floats)
		}
		if *used == limit {
			a.failed = a.failed || p.float || !a.allInts
			return false
		}
		o.pieces = append(o.pieces, piece{at + p.offset, base + uintptr(*used)*word, p.size})
		*used++
	}
	return true
}

// onStack adds the pieces of a part that has type t and is at an offset, for an operand on the
// stack.
func (o *operand) onStack(t reflect.Type, at, to uintptr) {
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			o.onStack(f.Type, at+f.Offset, to+f.Offset)
		}
	case reflect.Array:
		if t.Size() > stackWords*word {
			return // too large, as newSignature finds
		}
		for i := range uintptr(t.Len()) {
			o.onStack(t.Elem(), at+i*t.Elem().Size(), to+i*t.Elem().Size())
		}
	default:
		for _, p := range partsOf(t) {
			o.pieces = append(o.pieces, piece{at + p.offset, to + p.offset, p.size})
		}
	}
}

// part is a number or pointer in a value; the size of a pointer is 0.
type part struct {
	offset, size uintptr
	float        bool
}

// partsOf returns the parts of a value that is neither a struct nor an array.
func partsOf(t reflect.Type) []part {
	switch t.Kind() {
	case reflect.Float32, reflect.Float64:
		return []part{{0, t.Size(), true}}
	case reflect.Complex64, reflect.Complex128:
		half := t.Size() / 2
		return []part{{0, half, true}, {half, half, true}}
	case reflect.String:
		return []part{{}, {offset: word, size: word}}
	case reflect.Slice:
		return []part{{}, {offset: word, size: word}, {offset: 2 * word, size: word}}
	case reflect.Interface:
		return []part{{}, {offset: word}}
	case reflect.Pointer, reflect.UnsafePointer, reflect.Map, reflect.Chan, reflect.Func:
		return []part{{}}
	}
	return []part{{0, t.Size(), false}}
}

// copyPlain copies a piece of 8, 4, 2 or 1 bytes that is no pointer.
func copyPlain(to, from unsafe.Pointer, size uintptr) {
	switch size {
	case 8:
		*(*uint64)(to) = *(*uint64)(from)
	case 4:
		*(*uint32)(to) = *(*uint32)(from)
	case 2:
		*(*uint16)(to) = *(*uint16)(from)
	default:
		*(*uint8)(to) = *(*uint8)(from)
	}
}

// pass copies an argument from memory to its registers.
func (o *operand) pass(r *registers, from unsafe.Pointer) {
	for i := range o.pieces {
		p := &o.pieces[i]
		from, to := unsafe.Add(from, p.from), unsafe.Add(unsafe.Pointer(r), p.to)
		if p.size == 0 {
			*(*unsafe.Pointer)(unsafe.Add(to, toPointers)) = *(*unsafe.Pointer)(from)
			*(*uintptr)(to) = *(*uintptr)(unsafe.Add(to, toPointers))
		} else {
			copyPlain(to, from, p.size)
		}
	}
}

// receive copies a result from its registers to memory.
func (o *operand) receive(r *registers, to unsafe.Pointer) {
	for i := range o.pieces {
		p := &o.pieces[i]
		to, from := unsafe.Add(to, p.from), unsafe.Add(unsafe.Pointer(r), p.to)
		if p.size == 0 {
			*(*unsafe.Pointer)(to) = *(*unsafe.Pointer)(unsafe.Add(from, toPointers))
		} else {
			copyPlain(to, from, p.size)
		}
	}
}
