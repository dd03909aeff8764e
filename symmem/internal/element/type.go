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
	F16:    {name: "f16", size: 2, base: Floating, bits: 11, max: 65504},
	BF16:   {name: "bf16", size: 2, base: Floating, bits: 8, max: 0x1.fep127},
	F32:    {name: "f32", size: 4, base: Floating, bits: 24, max: 0x1.fffffep127},
	F64:    {name: "f64", size: 8, base: Floating, bits: 53, max: 0x1.fffffffffffffp1023},
	I8:     {name: "i8", size: 1, base: Signed, bits: 7},
	U8:     {name: "u8", size: 1, base: Unsigned, bits: 8},
	I32:    {name: "i32", size: 4, base: Signed, bits: 31},
	U32:    {name: "u32", size: 4, base: Unsigned, bits: 32},
	I64:    {name: "i64", size: 8, base: Signed, bits: 63},
	U64:    {name: "u64", size: 8, base: Unsigned, bits: 64},
	F8E4M3: {name: "f8e4m3", size: 1, base: Floating, bits: 4, max: 448},
	F8E5M2: {name: "f8e5m2", size: 1, base: Floating, bits: 3, max: 57344},
	I16:    {name: "i16", size: 2, base: Signed, bits: 15},
	U16:    {name: "u16", size: 2, base: Unsigned, bits: 16},
	Bool:   {name: "bool", size: 1, base: Unsigned, bits: 1},
	C64:    {name: "c64", size: 8, base: Complex, bits: 24, max: 0x1.fffffep127},
	C128:   {name: "c128", size: 16, base: Complex, bits: 53, max: 0x1.fffffffffffffp1023},
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
