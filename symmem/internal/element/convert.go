package element

import "math"

// Convert returns the bits of the element into which kernels convert a number, of a type that is not
// complex; kernels/include/symm/calculate.cuh has the same conversions for devices. Unlike Encode it
// has a result for every number. A float is rounded once, ties to even, and becomes infinity, or NaN
// in f8e4m3, beyond the largest value. An integer type has the nearest integer towards zero that the
// type can hold, and 0 for NaN; integers wrap around. To a Bool, every value except 0 is true.
func (d Type) Convert(x Number) uint64 {
	switch t := &types[d]; {
	case d == F32 && x.Class == Signed: // not by way of a float64, which would round twice
		return uint64(math.Float32bits(float32(x.Int)))
	case d == F32 && x.Class == Unsigned:
		return uint64(math.Float32bits(float32(x.Uint)))
	case t.base == Floating:
		return d.round(x.float())
	case d == Bool:
		if x.float() != 0 {
			return 1
		}
		return 0
	case x.Class == Signed:
		return d.wrapped(uint64(x.Int))
	case x.Class == Unsigned:
		return d.wrapped(x.Uint)
	default:
		return d.nearest(x.Float)
	}
}

// float returns the number as a float64, rounded if need be.
func (x Number) float() float64 {
	switch x.Class {
	case Signed:
		return float64(x.Int)
	case Unsigned:
		return float64(x.Uint)
	}
	return x.Float
}

// round returns the bits of the nearest value of a floating type.
func (d Type) round(f float64) uint64 {
	switch d {
	case F64:
		return math.Float64bits(f)
	case F32:
		return uint64(math.Float32bits(float32(f)))
	}
	return uint64(formats[d].encode(f))
}

// wrapped returns the bits of an integer that wraps around.
func (d Type) wrapped(x uint64) uint64 {
	if types[d].base == Signed {
		return uint64(d.Integer(x))
	}
	return x & (1<<types[d].bits - 1)
}

// nearest returns the bits of the integer nearest to a float, towards zero.
func (d Type) nearest(f float64) uint64 {
	t := &types[d]
	end := math.Ldexp(1, t.bits) // one more than the largest value
	switch {
	case f != f:
		return 0
	case f >= end:
		return 1<<t.bits - 1
	case t.base == Unsigned:
		return uint64(max(f, 0))
	case f <= -end:
		return -(1 << t.bits)
	}
	return uint64(int64(f))
}
