package show

import "github.com/symmrepl/symmrepl/symmem/internal/element"

// Tensor is a tensor that is shown.
type Tensor struct {
	Kind    string // "f32[4]"
	Place   string // "cpu, symmetric"
	Type    element.Type
	Shape   []int
	N       int  // the number of elements
	Surveys bool // the device calculates Stats and Greatest
	Elements
}

// Elements are the elements of a tensor, in order.
type Elements interface {
	// Read returns the bytes of elements. It panics if they cannot be read, and so do functions of
	// this package.
	Read(lo, hi int) []byte
	// Stats returns the statistics of all elements; ok is false if they cannot be calculated.
	Stats() (s Stats, ok bool)
	// Greatest returns the greatest finite element of each part of some rows; nil if it cannot be
	// calculated. One number of parts divides a single row, two divide rows and columns.
	Greatest(first, rows, columns int, parts ...int) []float64
}

// Stats are statistics of a tensor.
type Stats struct {
	N, NaN         int     // the number of elements, and how many of them are NaN
	Min, Max, Mean float64 // of the elements that are not NaN; NaN if there are none
}
