package symmem

import "fmt"

// DType is the type of a tensor's elements.
type DType uint8

// The element types. F8E4M3 and F8E5M2 are storage: they can be filled, copied and read, not reduced.
const (
	F16 DType = iota + 1
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
)

// dtypes describes every DType by its value.
var dtypes = [...]struct {
	name string
	size int
	base class
	bits int     // integers: value bits; floats: bits of the significand, the hidden one included
	max  float64 // floats: the largest finite value
}{
	F16:    {"f16", 2, floating, 11, 65504},
	BF16:   {"bf16", 2, floating, 8, 0x1.fep127},
	F32:    {"f32", 4, floating, 24, 0x1.fffffep127},
	F64:    {"f64", 8, floating, 53, 0x1.fffffffffffffp1023},
	I8:     {"i8", 1, signed, 7, 0},
	U8:     {"u8", 1, unsigned, 8, 0},
	I32:    {"i32", 4, signed, 31, 0},
	U32:    {"u32", 4, unsigned, 32, 0},
	I64:    {"i64", 8, signed, 63, 0},
	U64:    {"u64", 8, unsigned, 64, 0},
	F8E4M3: {"f8e4m3", 1, floating, 4, 448},
	F8E5M2: {"f8e5m2", 1, floating, 3, 57344},
}

type class uint8

const (
	floating class = iota + 1
	signed
	unsigned
)

func (d DType) valid() bool { return d >= F16 && d <= F8E5M2 }

// Size is the bytes of an element.
func (d DType) Size() int {
	if !d.valid() {
		return 0
	}
	return dtypes[d].size
}

// String is the name used in messages and kernels: "bf16".
func (d DType) String() string {
	if !d.valid() {
		return fmt.Sprintf("DType(%d)", uint8(d))
	}
	return dtypes[d].name
}

// computes reports whether kernels do arithmetic on the type.
func (d DType) computes() bool { return d >= F16 && d <= U64 }

func (d DType) isFloat() bool { return dtypes[d].base == floating }
