package symmem

import (
	"fmt"
	"math"
	"reflect"
)

// number is a Go number of any type, without loss.
type number struct {
	base class
	i    int64
	u    uint64
	f    float64
}

// numberOf reads a value of a numeric type.
func numberOf(x any) (number, bool) {
	switch v := x.(type) {
	case int:
		return number{base: signed, i: int64(v)}, true
	case float64:
		return number{base: floating, f: v}, true
	case float32:
		return number{base: floating, f: float64(v)}, true
	}
	v := reflect.ValueOf(x)
	switch {
	case x == nil:
		return number{}, false
	case v.CanInt():
		return number{base: signed, i: v.Int()}, true
	case v.CanUint():
		return number{base: unsigned, u: v.Uint()}, true
	case v.CanFloat():
		return number{base: floating, f: v.Float()}, true
	}
	return number{}, false
}

// String is the number as Go prints it.
func (x number) String() string {
	switch x.base {
	case signed:
		return fmt.Sprint(x.i)
	case unsigned:
		return fmt.Sprint(x.u)
	}
	return fmt.Sprint(x.f)
}

// encode returns the bits of an element with this value, or why there are none. An integer must be
// representable exactly; a float is rounded to a float type's nearest value, must not overflow, and must be
// whole for an integer type.
func (d DType) encode(x number) (bits uint64, why string) {
	t := &dtypes[d]
	if t.base == floating {
		f := x.f
		if x.base != floating {
			var exact bool
			if f, exact = x.exactly(t.bits); !exact {
				return 0, fmt.Sprintf("%v is not exactly representable in %v", x, d)
			}
		}
		return d.encodeFloat(f)
	}
	if x.base == floating {
		if x.f != math.Trunc(x.f) || math.IsInf(x.f, 0) {
			return 0, fmt.Sprintf("%v is not a whole number, as %v needs", x, d)
		}
		switch {
		case x.f >= -0x1p63 && x.f < 0x1p63:
			x = number{base: signed, i: int64(x.f)}
		case x.f >= 0 && x.f < 0x1p64:
			x = number{base: unsigned, u: uint64(x.f)}
		default:
			return 0, fmt.Sprintf("%v is out of the range of %v", x, d)
		}
	}
	if x.base == unsigned && x.u <= math.MaxInt64 {
		x = number{base: signed, i: int64(x.u)}
	}
	inRange := x.base == signed && x.i>>t.bits == 0 ||
		x.base == signed && t.base == signed && x.i>>t.bits == -1 ||
		x.base == unsigned && t.base == unsigned && t.bits == 64
	if t.base == unsigned && t.bits == 64 {
		inRange = x.base == unsigned || x.i >= 0
	}
	if !inRange {
		return 0, fmt.Sprintf("%v is out of the range of %v", x, d)
	}
	if x.base == signed {
		return uint64(x.i), ""
	}
	return x.u, ""
}

// exactly returns the integer as a float with so many bits of significand.
func (x number) exactly(bits int) (float64, bool) {
	if x.base == signed {
		f := float64(x.i)
		return f, f < 0x1p63 && int64(f) == x.i && fits(f, bits)
	}
	f := float64(x.u)
	return f, f < 0x1p64 && uint64(f) == x.u && fits(f, bits)
}

func fits(f float64, bits int) bool {
	frac, _ := math.Frexp(f)
	scaled := math.Ldexp(frac, bits)
	return scaled == math.Trunc(scaled)
}

func (d DType) encodeFloat(f float64) (bits uint64, why string) {
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
	if got := d.float(bits); !math.IsInf(f, 0) && f == f && (math.IsInf(got, 0) || got != got) {
		return 0, fmt.Sprintf("%v is out of the range of %v, whose largest value is %v", f, d, dtypes[d].max)
	}
	return bits, ""
}

// float returns an element as a float64: exact, but for 64-bit integers beyond 2^53.
func (d DType) float(bits uint64) float64 {
	switch d {
	case F64:
		return math.Float64frombits(bits)
	case F32:
		return float64(math.Float32frombits(uint32(bits)))
	case F16, BF16, F8E4M3, F8E5M2:
		return formats[d].decode(uint16(bits))
	case U8, U32, U64:
		return float64(bits & (1<<dtypes[d].bits - 1))
	}
	return float64(d.integer(bits))
}

// integer returns an element of an integer type; a u64 wraps.
func (d DType) integer(bits uint64) int64 {
	switch d {
	case I8:
		return int64(int8(bits))
	case U8:
		return int64(uint8(bits))
	case I32:
		return int64(int32(bits))
	case U32:
		return int64(uint32(bits))
	}
	return int64(bits)
}
