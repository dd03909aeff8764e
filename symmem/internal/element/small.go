package element

import "math"

// Conversion of small floats to and from bits. Decoding is exact; encoding rounds to nearest, ties
// to even, like the devices.

// format is a float of at most 16 bits.
type format struct {
	exponent int // bits
	mantissa int // number of bits, without the hidden one
	// the highest exponent means infinity or NaN; otherwise only all ones is NaN (e4m3)
	infinity bool
}

var formats = [...]format{
	F16:    {5, 10, true},
	BF16:   {8, 7, true},
	F8E4M3: {4, 3, false},
	F8E5M2: {5, 2, true},
}

// decode returns the value of the bits.
func (f format) decode(bits uint16) float64 {
	bias := 1<<(f.exponent-1) - 1
	man := int(bits) & (1<<f.mantissa - 1)
	exp := int(bits) >> f.mantissa & (1<<f.exponent - 1)
	var v float64
	switch {
	case exp == 0:
		v = math.Ldexp(float64(man), 1-bias-f.mantissa)
	case exp == 1<<f.exponent-1 && f.infinity:
		if v = math.Inf(1); man != 0 {
			return math.NaN()
		}
	case exp == 1<<f.exponent-1 && man == 1<<f.mantissa-1:
		return math.NaN()
	default:
		v = math.Ldexp(float64(man|1<<f.mantissa), exp-bias-f.mantissa)
	}
	if bits>>(f.exponent+f.mantissa)&1 != 0 {
		return -v
	}
	return v
}

// encode returns the bits of the nearest value. Too large values become infinity, or NaN in a
// format without infinity.
func (f format) encode(v float64) uint16 {
	bias := 1<<(f.exponent-1) - 1
	sign := uint16(0)
	if math.Signbit(v) {
		sign = 1 << (f.exponent + f.mantissa)
		v = -v
	}
	overflow := uint16(1<<f.exponent-1) << f.mantissa
	if !f.infinity {
		overflow |= 1<<f.mantissa - 1
	}
	switch {
	case v != v:
		return 1<<(f.exponent+f.mantissa) - 1
	case math.IsInf(v, 1):
		return sign | overflow
	}
	_, exp := math.Frexp(v) // v = [0.5, 1) * 2^exp
	exp = max(exp-1, 1-bias)
	units := uint32(math.RoundToEven(math.Ldexp(v, f.mantissa-exp)))
	if v == 0 || units < 1<<f.mantissa {
		return sign | uint16(units) // zero and subnormal: exp is the lowest
	}
	if units == 2<<f.mantissa {
		units >>= 1
		exp++
	}
	bits := uint32(exp+bias)<<f.mantissa | units&(1<<f.mantissa-1)
	if bits >= uint32(overflow) {
		return sign | overflow
	}
	return sign | uint16(bits)
}
