package element

import (
	"fmt"
	"reflect"
)

// Complex values are stored as two elements of Part, the real part first.

// Put stores a Go value as element i of data: a number of any type, for a Bool a bool, and for a
// complex type a complex number. It returns the reason why the type cannot have the value, and known
// is false if x is no such value.
func (d Type) Put(data []byte, i int, x any) (why string, known bool) {
	if b, ok := x.(bool); ok && d == Bool {
		data[i] = 0
		if b {
			data[i] = 1
		}
		return "", true
	}
	part := d.Part()
	if v := reflect.ValueOf(x); x != nil && v.CanComplex() {
		if part == d {
			return fmt.Sprintf("%v is a complex number, and %v is not complex", x, d), true
		}
		for k, f := range []float64{real(v.Complex()), imag(v.Complex())} {
			bits, why := part.EncodeFloat(f)
			if why != "" {
				return why, true
			}
			part.PutBits(data, 2*i+k, bits)
		}
		return "", true
	}
	n, ok := NumberOf(x)
	if !ok {
		return "", false
	}
	bits, why := part.Encode(n)
	switch {
	case why != "":
	case part != d:
		part.PutBits(data, 2*i, bits)
		part.PutBits(data, 2*i+1, 0)
	default:
		d.PutBits(data, i, bits)
	}
	return why, true
}

// ComplexAt returns element i of data, of any type, as a complex number.
func (d Type) ComplexAt(data []byte, i int) complex128 {
	if part := d.Part(); part != d {
		return complex(part.Float(part.BitsAt(data, 2*i)), part.Float(part.BitsAt(data, 2*i+1)))
	}
	return complex(d.Float(d.BitsAt(data, i)), 0)
}
