package expression

import "github.com/symmrepl/symmrepl/symmem/internal/element"

// Type is the type of a part of a formula: the type of an element, or one of the types below. Numbers
// in the formula, and operands that are numbers, have no width: they take the type of the other
// operand.
type Type = element.Type

// The types that no tensor has.
const (
	Truth   Type = iota + 1 // of a comparison
	Integer                 // a whole number of no width
	Float                   // a number of no width
)

// class determines the types of the arguments and the result of a function.
type class uint8

const (
	floating   class = iota // all arguments become one floating type, the type of the result
	same                    // all arguments become one type, the type of the result
	asked                   // a truth about a floating argument
	converting              // the result has the type of the function's name
	drawing                 // the argument is an integer, and the result a float of no width
	choosing                // where(c, a, b)
	parting                 // a real number of a number: itself or, of a complex one, of the type of its parts
	pairing                 // complex(re, im)
)

// function is a row of the table of functions. Its implementations in
// kernels/include/symm/calculate.cuh have the same name.
type function struct {
	least, most int // arguments
	class       class
	to          Type // of a conversion
}

var functions = map[string]function{
	"abs": {1, 1, parting, 0}, "real": {1, 1, parting, 0}, "imag": {1, 1, parting, 0},
	"conj": {1, 1, same, 0}, "complex": {2, 2, pairing, 0}, "sign": {1, 1, same, 0},
	"floor": {1, 1, same, 0}, "ceil": {1, 1, same, 0}, "trunc": {1, 1, same, 0},
	"rint": {1, 1, same, 0},
	"min":  {2, 2, same, 0}, "max": {2, 2, same, 0},
	"pow": {2, 2, same, 0},

	"exp": {1, 1, floating, 0}, "exp2": {1, 1, floating, 0}, "expm1": {1, 1, floating, 0},
	"log": {1, 1, floating, 0}, "log2": {1, 1, floating, 0},
	"log10": {1, 1, floating, 0}, "log1p": {1, 1, floating, 0},
	"sqrt": {1, 1, floating, 0}, "rsqrt": {1, 1, floating, 0},
	"sin": {1, 1, floating, 0}, "cos": {1, 1, floating, 0}, "tan": {1, 1, floating, 0},
	"tanh": {1, 1, floating, 0}, "atan": {1, 1, floating, 0}, "erf": {1, 1, floating, 0},
	"atan2": {2, 2, floating, 0}, "hypot": {2, 2, floating, 0},
	"fma": {3, 3, floating, 0},

	"isnan": {1, 1, asked, 0}, "isinf": {1, 1, asked, 0}, "isfinite": {1, 1, asked, 0},
	"where": {3, 3, choosing, 0},

	"random": {1, 1, drawing, 0}, "normal": {1, 1, drawing, 0},

	"f16": conversion(element.F16), "bf16": conversion(element.BF16), "f32": conversion(element.F32), "f64": conversion(element.F64),
	"i8": conversion(element.I8), "u8": conversion(element.U8), "i32": conversion(element.I32), "u32": conversion(element.U32),
	"i64": conversion(element.I64), "u64": conversion(element.U64),
	"i16": conversion(element.I16), "u16": conversion(element.U16), "bool": conversion(element.Bool),
	"c64": conversion(element.C64), "c128": conversion(element.C128),
	"f8e4m3": conversion(element.F8E4M3), "f8e5m2": conversion(element.F8E5M2),
}

func conversion(to Type) function {
	return function{1, 1, converting, to}
}

// reducing describes a reduction. calculate.cuh has a type for its partial results.
type reducing struct {
	empty bool // a reduction of no elements has a result
}

// OfNone reports whether a reduction of no elements has a result.
func OfNone(name string) bool { return reductions[name].empty }

var reductions = map[string]*reducing{
	"sum":    {true},  // the sum: of floats in f64, of integers in i64 or u64
	"prod":   {true},  // the product, likewise
	"min":    {false}, // the smallest, or NaN if there is one
	"max":    {false}, // the largest, or NaN if there is one
	"argmin": {false}, // the index of the first smallest element
	"argmax": {false}, // the index of the first largest element
	"any":    {true},  // whether one is not 0
	"all":    {true},  // whether none is 0
}

// Promote returns the type in which elements of two types are combined. It is numpy's type, except
// that i32 replaces numpy's i16. For bf16 and the 8-bit floats, which numpy lacks, it is the narrowest
// float that has all values of both types.
func Promote(a, b Type) Type {
	if a == b {
		return a
	}
	if a.IsComplex() || b.IsComplex() {
		if Promote(a.Part(), b.Part()) == element.F64 {
			return element.C128
		}
		return element.C64
	}
	if a.IsFloat() && b.IsFloat() {
		return widerFloat(a, b)
	}
	if b.IsFloat() {
		a, b = b, a
	}
	if a.IsFloat() { // and b is an integer
		switch b.Size() {
		case 1:
			return a
		case 2:
			return widerFloat(a, element.F32)
		}
		return element.F64
	}
	sa, sb := signed(a), signed(b)
	switch {
	case sa == sb && a.Size() >= b.Size():
		return a
	case sa == sb:
		return b
	case sb:
		a, b = b, a
	}
	switch { // a is signed, b is not
	case a.Size() > b.Size():
		return a
	case b.Size() <= 2:
		return element.I32
	case b.Size() == 4:
		return element.I64
	}
	return element.F64
}

func widerFloat(a, b Type) Type {
	if a.Size() < b.Size() {
		a, b = b, a
	}
	switch {
	case a.Size() > b.Size() || a == b:
		return a
	case a.Size() == 1: // the two 8-bit floats
		return element.F16
	}
	return element.F32 // f16 and bf16
}

func signed(t Type) bool {
	return t == element.I8 || t == element.I16 || t == element.I32 || t == element.I64
}
