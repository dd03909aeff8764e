package calculate

import "slices"

// Access is a way in which a kernel reads an operand or writes its result.
type Access uint8

// The ways to access memory. The last three use strides.
const (
	Flat   Access = iota // element i for element i of the result
	One                  // one element for all
	Number               // an argument, not in memory
	Along                // elements that differ by 1 in the last dimension are neighbours in memory
	Across               // elements that differ in the last dimension only are one element
	Apart                // any strides
)

// Strided reports whether the access uses strides.
func (a Access) Strided() bool { return a >= Along }

// Broadcast returns the shape of a result by numpy's rule: shapes are compared from their last
// dimension on, and a dimension that is missing or 1 is repeated. ok is false if the shapes do not fit.
func Broadcast(shapes ...[]int) (shape []int, ok bool) {
	for _, s := range shapes {
		for len(shape) < len(s) {
			shape = append([]int{1}, shape...)
		}
		for i, d := range s {
			at := &shape[len(shape)-len(s)+i]
			switch {
			case *at == 1:
				*at = d
			case d != 1 && d != *at:
				return nil, false
			}
		}
	}
	return shape, true
}

// Strides returns the strides of contiguous elements of a shape.
func Strides(shape []int) []int {
	strides := make([]int, len(shape))
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = n
		n *= shape[i]
	}
	return strides
}

// Repeated returns the strides by which contiguous elements of a shape are read if they are broadcast
// to another shape.
func Repeated(shape, result []int) []int {
	own := Strides(shape)
	strides := make([]int, len(result))
	for i, d := range shape {
		if d != 1 {
			strides[len(result)-len(shape)+i] = own[i]
		}
	}
	return strides
}

// Layout describes how a map reads its operands and writes its result.
type Layout struct {
	Dims     []int    // dimensions of all strided accesses, merged where all of them permit it
	Accesses []Access // of the result, then of each operand
	Strides  [][]int  // of the strided accesses, by Dims; in the order of Accesses
}

// Arrange finds the simplest way to read each operand, from the shape of the result and the strides
// of the result and of the operands, in elements. An operand without strides is a number.
func Arrange(shape []int, strides ...[]int) Layout {
	l := Layout{Accesses: make([]Access, len(strides)), Strides: make([][]int, len(strides))}
	dims, merged := merge(shape, strides)
	flat := Strides(dims)
	for i, s := range merged {
		last := len(dims) - 1
		switch {
		case s == nil:
			l.Accesses[i] = Number
		case slices.Equal(s, flat):
			l.Accesses[i] = Flat
		case !slices.ContainsFunc(s, func(n int) bool { return n != 0 }):
			l.Accesses[i] = One
		default:
			l.Dims, l.Strides[i] = dims, s
			switch s[last] {
			case 1:
				l.Accesses[i] = Along
			case 0:
				l.Accesses[i] = Across
			default:
				l.Accesses[i] = Apart
			}
		}
	}
	return l
}

// merge joins neighbouring dimensions that all operands pass through as one, and drops dimensions of
// one element.
func merge(shape []int, strides [][]int) (dims []int, out [][]int) {
	out = make([][]int, len(strides))
	for i, s := range strides {
		if s != nil {
			out[i] = []int{}
		}
	}
	for d, n := range shape {
		if n == 1 {
			continue
		}
		last := len(dims) - 1
		joins := last >= 0
		for i, s := range strides {
			joins = joins && (s == nil || out[i][last] == s[d]*n)
		}
		for i, s := range strides {
			switch {
			case s == nil:
			case joins:
				out[i][last] = s[d]
			default:
				out[i] = append(out[i], s[d])
			}
		}
		if joins {
			dims[last] *= n
		} else {
			dims = append(dims, n)
		}
	}
	return dims, out
}
