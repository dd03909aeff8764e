package expect

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/symmem"
	"github.com/symmrepl/symmrepl/symmem/expect/formula"
)

// shown is the number of elements that a Difference has.
const shown = 8

// Difference is the error of a tensor that does not hold the values of a formula.
type Difference struct {
	Name      string // of the tensor
	Formula   string // its text
	Rank      int    // in the group, of the tensor
	Tolerance string // of Close, such as "rtol 0.001, atol 0"; "" of Equal
	Elements  int    // of the tensor
	Differ    int    // how many of them differ
	First     []Element
	Most      float64 // the largest difference, 0 if no difference is a number
	Worst     Element // the first element with it
}

// Element is an element that differs from the formula.
type Element struct {
	Index     int    // counted through all dimensions
	At        []int  // in each dimension
	Want, Got string // as the type prints them
}

// Error is, for example, "rank 1: 2 of 1000 elements of out are not rank_sum(x)", with a line for each of
// the first elements.
func (d *Difference) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "rank %d: %d of %s of %s", d.Rank, d.Differ, count.Of(d.Elements, "element"), d.Name)
	be, is := "are", ""
	if d.Differ == 1 {
		be = "is"
	}
	if d.Tolerance != "" {
		is = "close to "
	}
	fmt.Fprintf(&b, " %s not %s%s", be, is, d.Formula)
	if d.Tolerance != "" {
		fmt.Fprintf(&b, " (%s)", d.Tolerance)
	}
	for _, e := range d.First {
		fmt.Fprintf(&b, "\n  %s%s is %s, want %s", d.Name, subscript(e.At), e.Got, e.Want)
	}
	if d.Differ > len(d.First) {
		fmt.Fprintf(&b, "\n  and %d more", d.Differ-len(d.First))
		if d.Most > 0 {
			fmt.Fprintf(&b, "; the largest difference is %.6g, of %s%s: it is %s, want %s", d.Most, d.Name, subscript(d.Worst.At), d.Worst.Got, d.Worst.Want)
		}
	}
	return b.String()
}

// subscript is "[1, 3]", "" without dimensions.
func subscript(at []int) string {
	if len(at) == 0 {
		return ""
	}
	return strings.ReplaceAll(fmt.Sprint(at), " ", ", ")
}

// position returns the indices of an element in each dimension.
func position(i int, shape []int) []int {
	at := make([]int, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		at[d], i = i%shape[d], i/shape[d]
	}
	return at
}

// text prints an element with the digits that its type has.
func text(dtype symmem.DType, x formula.Numbers, i int) string {
	switch {
	case x.Floats != nil && dtype == symmem.F64:
		return strconv.FormatFloat(x.Floats[i], 'g', -1, 64)
	case x.Floats != nil: // the others are values of a float32
		return strconv.FormatFloat(x.Floats[i], 'g', -1, 32)
	case dtype == symmem.U64:
		return strconv.FormatUint(uint64(x.Ints[i]), 10)
	case dtype == symmem.Bool:
		return strconv.FormatBool(x.Ints[i] != 0)
	}
	return strconv.FormatInt(x.Ints[i], 10)
}
