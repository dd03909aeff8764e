package element

import (
	"fmt"
	"math"
	"reflect"
)

// Number is a Go number of any type, stored without loss.
type Number struct {
	Class Class
	Int   int64
	Uint  uint64
	Float float64
}

// NumberOf returns x as a Number, if its type is numeric.
func NumberOf(x any) (Number, bool) {
	switch v := x.(type) {
	case int:
		return Number{Class: Signed, Int: int64(v)}, true
	case float64:
		return Number{Class: Floating, Float: v}, true
	case float32:
		return Number{Class: Floating, Float: float64(v)}, true
	}
	v := reflect.ValueOf(x)
	switch {
	case x == nil:
		return Number{}, false
	case v.CanInt():
		return Number{Class: Signed, Int: v.Int()}, true
	case v.CanUint():
		return Number{Class: Unsigned, Uint: v.Uint()}, true
	case v.CanFloat():
		return Number{Class: Floating, Float: v.Float()}, true
	}
	return Number{}, false
}

// String returns the number as Go prints it.
func (x Number) String() string {
	switch x.Class {
	case Signed:
		return fmt.Sprint(x.Int)
	case Unsigned:
		return fmt.Sprint(x.Uint)
	}
	return fmt.Sprint(x.Float)
}

// Encode returns the bits of an element with this value, or the reason why there is none. An
// integer must be exactly representable. A float is rounded to a float type's nearest value and
// must not overflow; for an integer type it must be a whole number.
func (d Type) Encode(x Number) (bits uint64, why string) {
	t := &types[d]
	if t.base == Floating {
		f := x.Float
		if x.Class != Floating {
			var exact bool
			if f, exact = x.exactly(t.bits); !exact {
				return 0, fmt.Sprintf("%v is not exactly representable in %v", x, d)
			}
		}
		return d.EncodeFloat(f)
	}
	if x.Class == Floating {
		if x.Float != math.Trunc(x.Float) || math.IsInf(x.Float, 0) {
			return 0, fmt.Sprintf("%v is not a whole number, as %v needs", x, d)
		}
		switch {
		case x.Float >= -0x1p63 && x.Float < 0x1p63:
			x = Number{Class: Signed, Int: int64(x.Float)}
		case x.Float >= 0 && x.Float < 0x1p64:
			x = Number{Class: Unsigned, Uint: uint64(x.Float)}
		default:
			return 0, fmt.Sprintf("%v is out of the range of %v", x, d)
		}
	}
	if x.Class == Unsigned && x.Uint <= math.MaxInt64 {
		x = Number{Class: Signed, Int: int64(x.Uint)}
	}
	inRange := x.Class == Signed && x.Int>>t.bits == 0 ||
		x.Class == Signed && t.base == Signed && x.Int>>t.bits == -1 ||
		x.Class == Unsigned && t.base == Unsigned && t.bits == 64
	if t.base == Unsigned && t.bits == 64 {
		inRange = x.Class == Unsigned || x.Int >= 0
	}
	if !inRange {
		return 0, fmt.Sprintf("%v is out of the range of %v", x, d)
	}
	if x.Class == Signed {
		return uint64(x.Int), ""
	}
	return x.Uint, ""
}

// exactly returns the integer as a float, if it fits into so many bits of significand.
func (x Number) exactly(bits int) (float64, bool) {
	if x.Class == Signed {
		f := float64(x.Int)
		return f, f < 0x1p63 && int64(f) == x.Int && fits(f, bits)
	}
	f := float64(x.Uint)
	return f, f < 0x1p64 && uint64(f) == x.Uint && fits(f, bits)
}

func fits(f float64, bits int) bool {
	frac, _ := math.Frexp(f)
	scaled := math.Ldexp(frac, bits)
	return scaled == math.Trunc(scaled)
}

// EncodeFloat is Encode for a float and a floating-point type.
func (d Type) EncodeFloat(f float64) (bits uint64, why string) {
	switch d {
	case F64:
		return math.Float64bits(f), ""
	case F32:
		bits = uint64(math.Float32bits(float32(f)))
	case F16, BF16, F8E4M3, F8E5M2:
		bits = uint64(formats[d].encode(f))
	}
	if math.IsInf(f, 0) && d == F8E4M3 {
		return 0, "f8e4m3 has no infinity"
	}
	if got := d.Float(bits); !math.IsInf(f, 0) && f == f && (math.IsInf(got, 0) || got != got) {
		return 0, fmt.Sprintf("%v is out of the range of %v, whose largest value is %v", f, d, types[d].max)
	}
	return bits, ""
}

// Float returns an element as a float64, exactly except for 64-bit integers beyond 2^53.
func (d Type) Float(bits uint64) float64 {
	switch d {
	case F64:
		return math.Float64frombits(bits)
	case F32:
		return float64(math.Float32frombits(uint32(bits)))
	case F16, BF16, F8E4M3, F8E5M2:
		return formats[d].decode(uint16(bits))
	case U8, U16, U32, U64, Bool:
		return float64(bits & (1<<types[d].bits - 1))
	}
	return float64(d.Integer(bits))
}

// Integer returns an element of an integer type or a Bool; a large u64 wraps around.
func (d Type) Integer(bits uint64) int64 {
	switch d {
	case I8:
		return int64(int8(bits))
	case U8, Bool:
		return int64(uint8(bits))
	case I16:
		return int64(int16(bits))
	case U16:
		return int64(uint16(bits))
	case I32:
		return int64(int32(bits))
	case U32:
		return int64(uint32(bits))
	}
	return int64(bits)
}
