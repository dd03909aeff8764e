package element

import (
	"fmt"
	"strings"
)

// Type is the type of a tensor's elements.
type Type uint8

// The element types. F8E4M3 and F8E5M2 are for storage: they can be filled, copied and read, and of
// the reductions only ReduceScatter takes them. I16 and U16 are calculated with, but not reduced
// between ranks. A Bool is a byte that is 0 or 1. C64 and C128 are pairs of F32 and of F64, the real
// part first. The numbers of the types are unlikely to be dimensions, because in Go a constant such
// as 4 is a valid Type where the type was forgotten before a shape.
const (
	F16 Type = iota + 236
	BF16
	F32
	F64
	I8
	U8
	I32
	U32
	I64
	U64
	F8E4M3
	F8E5M2
	I16
	U16
	Bool
	C64
	C128
)

// types describes every Type by its value.
var types = [...]struct {
	name string
	size int
	base Class
	bits int     // integers: value bits; floats and parts of complex numbers: bits of the significand, including the hidden one
	max  float64 // floats: the largest finite value
}{
	F16:    {"f16", 2, Floating, 11, 65504},
	BF16:   {"bf16", 2, Floating, 8, 0x1.fep127},
	F32:    {"f32", 4, Floating, 24, 0x1.fffffep127},
	F64:    {"f64", 8, Floating, 53, 0x1.fffffffffffffp1023},
	I8:     {"i8", 1, Signed, 7, 0},
	U8:     {"u8", 1, Unsigned, 8, 0},
	I32:    {"i32", 4, Signed, 31, 0},
	U32:    {"u32", 4, Unsigned, 32, 0},
	I64:    {"i64", 8, Signed, 63, 0},
	U64:    {"u64", 8, Unsigned, 64, 0},
	F8E4M3: {"f8e4m3", 1, Floating, 4, 448},
	F8E5M2: {"f8e5m2", 1, Floating, 3, 57344},
	I16:    {"i16", 2, Signed, 15, 0},
	U16:    {"u16", 2, Unsigned, 16, 0},
	Bool:   {"bool", 1, Unsigned, 1, 0},
	C64:    {"c64", 8, Complex, 24, 0x1.fffffep127},
	C128:   {"c128", 16, Complex, 53, 0x1.fffffffffffffp1023},
}

// Class is the representation of a number.
type Class uint8

// The representations of numbers.
const (
	Floating Class = iota + 1
	Signed
	Unsigned
	Complex
)

// Valid reports whether d is one of the types.
func (d Type) Valid() bool { return d >= F16 && d <= C128 }

// Size returns the number of bytes of an element.
func (d Type) Size() int {
	if !d.Valid() {
		return 0
	}
	return types[d].size
}

// String returns the name used in messages and kernels: "bf16".
func (d Type) String() string {
	if !d.Valid() {
		return fmt.Sprintf("DType(%d)", uint8(d))
	}
	return types[d].name
}

// Shaped names a tensor of the type by its shape: "bf16[4, 1024]".
func (d Type) Shaped(shape []int) string {
	return d.String() + strings.ReplaceAll(fmt.Sprint(shape), " ", ", ")
}

// Computes reports whether kernels do arithmetic on the type, as on real numbers.
func (d Type) Computes() bool { return d.Reduces() || d == I16 || d == U16 }

// Reduces reports whether all reductions between ranks have kernels for the type.
func (d Type) Reduces() bool { return d >= F16 && d <= U64 }

// IsFloat reports whether d is a floating-point type, including small ones.
func (d Type) IsFloat() bool { return types[d].base == Floating }

// IsComplex reports whether d is a type of complex numbers.
func (d Type) IsComplex() bool { return types[d].base == Complex }

// Part returns the type of the real and the imaginary part of a complex type, and any other type
// itself.
func (d Type) Part() Type {
	switch d {
	case C64:
		return F32
	case C128:
		return F64
	}
	return d
}
