package yaegi

import (
	"cmp"
	"reflect"
	"strings"
	"unsafe"
)

// Arithmetic operations and comparisons of numbers have steps of their own, one for each kind,
// which access variables directly. Each step checks that its operands are of that kind, and
// otherwise runs yaegi's step.

// whole is a type of whole numbers.
type whole interface {
	int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64 | uintptr
}

// numbers makes the steps for one kind of numbers. Operations and orders are given by the names of
// yaegi's generators.
type numbers interface {
	// operating returns the step of x op y.
	operating(node *Node, operands []*Node, operation string, plain Step) Step
	// assigning returns the step of x op= y, and of x++ and x--, which have no y. OfMap says that x
	// is an element of a map.
	assigning(node *Node, operands []*Node, operation string, ofMap bool, plain Step) Step
	// comparing returns the step of a comparison.
	comparing(node *Node, operands []*Node, order string, plain Step) Step
}

// numbersOf makes the steps for type T.
type numbersOf[T number] struct {
	kind       reflect.Kind
	operations map[string]func(x, y T) T
	shifts     map[string]func(x T, n uint64) T // for whole numbers
	orders     map[string]func(x, y T) bool
}

// floats makes the steps of a type of floating-point numbers.
func floats[T number](kind reflect.Kind) *numbersOf[T] {
	return &numbersOf[T]{
		kind: kind,
		operations: map[string]func(x, y T) T{
			"add": func(x, y T) T { return x + y },
			"sub": func(x, y T) T { return x - y },
			"mul": func(x, y T) T { return x * y },
			"quo": func(x, y T) T { return x / y },
		},
		orders: ordersOf[T](),
	}
}

// wholes makes the steps of a type of whole numbers.
func wholes[T whole](kind reflect.Kind) *numbersOf[T] {
	of := floats[T](kind)
	of.operations["rem"] = func(x, y T) T { return x % y }
	of.operations["and"] = func(x, y T) T { return x & y }
	of.operations["or"] = func(x, y T) T { return x | y }
	of.operations["xor"] = func(x, y T) T { return x ^ y }
	of.operations["andNot"] = func(x, y T) T { return x &^ y }
	of.shifts = map[string]func(x T, n uint64) T{
		"shl": func(x T, n uint64) T { return x << n },
		"shr": func(x T, n uint64) T { return x >> n },
	}
	return of
}

func ordersOf[T cmp.Ordered]() map[string]func(x, y T) bool {
	return map[string]func(x, y T) bool{
		"lower":        func(x, y T) bool { return x < y },
		"lowerEqual":   func(x, y T) bool { return x <= y },
		"equal":        func(x, y T) bool { return x == y },
		"notEqual":     func(x, y T) bool { return x != y },
		"greaterEqual": func(x, y T) bool { return x >= y },
		"greater":      func(x, y T) bool { return x > y },
	}
}

var kindsOfNumbers = map[reflect.Kind]numbers{
	reflect.Int: wholes[int](reflect.Int), reflect.Int8: wholes[int8](reflect.Int8), reflect.Int16: wholes[int16](reflect.Int16),
	reflect.Int32: wholes[int32](reflect.Int32), reflect.Int64: wholes[int64](reflect.Int64),
	reflect.Uint: wholes[uint](reflect.Uint), reflect.Uint8: wholes[uint8](reflect.Uint8), reflect.Uint16: wholes[uint16](reflect.Uint16),
	reflect.Uint32: wholes[uint32](reflect.Uint32), reflect.Uint64: wholes[uint64](reflect.Uint64),
	reflect.Uintptr: wholes[uintptr](reflect.Uintptr),
	reflect.Float32: floats[float32](reflect.Float32), reflect.Float64: floats[float64](reflect.Float64),
}

// numbersIn returns the steps for the number type of the first node in list that has such a type
// and is not constant, or nil if there is none.
func numbersIn(list ...*Node) numbers {
	for _, node := range list {
		if node.typ != nil && !node.rval.IsValid() {
			if t := node.Type(); t != nil && kindsOfNumbers[t.Kind()] != nil {
				return kindsOfNumbers[t.Kind()]
			}
		}
	}
	return nil
}

// calculating returns the step of a generator's operation on numbers, or plain if this package has
// none for it.
func (y *Interpreter) calculating(node *Node, operands []*Node, generator string, plain Step) Step {
	operation, assigns := strings.CutSuffix(generator, "Assign")
	switch {
	case assigns || generator == "inc" || generator == "dec":
		if of := numbersIn(operands[0]); of != nil {
			return of.assigning(node, operands, operation, y.Generator(operands[0]) == "getIndexMap", plain)
		}
	case len(operands) != 2:
	case ordersOf[int]()[generator] != nil:
		if of := numbersIn(operands...); of != nil {
			return of.comparing(node, operands, generator, plain)
		}
	default:
		if of := numbersIn(node); of != nil {
			return of.operating(node, operands, generator, plain)
		}
	}
	return plain
}

// calculations lists the generators of operations on numbers.
var calculations = map[string]bool{
	"add": true, "sub": true, "mul": true, "quo": true, "rem": true, "and": true, "or": true, "xor": true, "andNot": true,
	"shl": true, "shr": true,
	"addAssign": true, "subAssign": true, "mulAssign": true, "quoAssign": true, "remAssign": true, "andAssign": true,
	"orAssign": true, "xorAssign": true,
	"andNotAssign": true, "shlAssign": true, "shrAssign": true, "inc": true, "dec": true,
	"lower": true, "lowerEqual": true, "equal": true, "notEqual": true, "greaterEqual": true, "greater": true,
}

func (of *numbersOf[T]) operating(node *Node, operands []*Node, operation string, plain Step) Step {
	a, ok1 := operands[0].Place()
	b, ok2 := operands[1].Place()
	result, ok3 := node.Result()
	if !ok1 || !ok2 || !ok3 {
		return plain
	}
	next, kind := node.Next(), of.kind
	if shift := of.shifts[operation]; shift != nil {
		return func(frame *Frame) Step {
			a, result := a.In(frame), result.In(frame)
			count, ok := b.In(frame).count()
			if !ok || !a.is(kind) || !result.isVariable(kind) {
				return plain(frame)
			}
			*(*T)(result.ptr) = shift(*(*T)(a.ptr), count)
			return next
		}
	}
	operate := of.operations[operation]
	if operate == nil {
		return plain
	}
	return func(frame *Frame) Step {
		a, b, result := a.In(frame), b.In(frame), result.In(frame)
		if !a.is(kind) || !b.is(kind) || !result.isVariable(kind) {
			return plain(frame)
		}
		*(*T)(result.ptr) = operate(*(*T)(a.ptr), *(*T)(b.ptr))
		return next
	}
}

func (of *numbersOf[T]) assigning(node *Node, operands []*Node, operation string, ofMap bool, plain Step) Step {
	to, ok := operands[0].Result()
	if !ok || ofMap {
		return plain
	}
	next, kind := node.Next(), of.kind
	var one Place
	switch number := T(1); operation {
	case "inc", "dec":
		one.constant = &Value{ptr: unsafe.Pointer(&number), flag: uintptr(kind) | indirect}
		operation = map[string]string{"inc": "add", "dec": "sub"}[operation]
	default:
		if one, ok = operands[1].Place(); !ok {
			return plain
		}
	}
	from := one
	if shift := of.shifts[operation]; shift != nil {
		return func(frame *Frame) Step {
			to := to.In(frame)
			count, ok := from.In(frame).count()
			if !ok || !to.isVariable(kind) {
				return plain(frame)
			}
			*(*T)(to.ptr) = shift(*(*T)(to.ptr), count)
			return next
		}
	}
	operate := of.operations[operation]
	if operate == nil {
		return plain
	}
	return func(frame *Frame) Step {
		to, from := to.In(frame), from.In(frame)
		if !to.isVariable(kind) || !from.is(kind) {
			return plain(frame)
		}
		*(*T)(to.ptr) = operate(*(*T)(to.ptr), *(*T)(from.ptr))
		return next
	}
}

func (of *numbersOf[T]) comparing(node *Node, operands []*Node, order string, plain Step) Step {
	a, ok1 := operands[0].Place()
	b, ok2 := operands[1].Place()
	result, ok3 := node.Result()
	if !ok1 || !ok2 || !ok3 {
		return plain
	}
	yes, no := node.Next(), node.Otherwise()
	if node.fnext == nil { // no branch depends on it
		no = yes
	}
	holds, kind := of.orders[order], of.kind
	return func(frame *Frame) Step {
		a, b, result := a.In(frame), b.In(frame), result.In(frame)
		if !a.is(kind) || !b.is(kind) || !result.isVariable(reflect.Bool) {
			return plain(frame)
		}
		is := holds(*(*T)(a.ptr), *(*T)(b.ptr))
		*(*bool)(result.ptr) = is
		if is {
			return yes
		}
		return no
	}
}
