// Package cmp is the generic part of the standard library's cmp.
package cmp

// Ordered is satisfied by the types that have <.
type Ordered interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr |
		~float32 | ~float64 | ~string
}

// Less reports whether x comes before y. A NaN comes before every number.
func Less[T Ordered](x, y T) bool {
	return x < y || x != x && y == y
}

// Compare is -1 if x comes before y, 0 if they are equal and +1 if x comes after y. NaNs are equal,
// and come before every number.
func Compare[T Ordered](x, y T) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return +1
	case x == y:
		return 0
	}
	// At least one of them is a NaN.
	switch {
	case x == x:
		return +1
	case y == y:
		return -1
	}
	return 0
}

// Or is the first of vals that is not zero, or zero.
func Or[T comparable](vals ...T) T {
	var zero T
	for _, v := range vals {
		if v != zero {
			return v
		}
	}
	return zero
}
