package symmem

import (
	"fmt"
	"math"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
)

// Statistics of tensors are calculated on the device: the bytes that the host reads do not depend
// on a tensor's size.

var statistics, extremes = operators.Calculation("Stats", true), operators.Calculation("Extremes", true)

// Stats are statistics of a tensor: see [Tensor.Stats].
type Stats struct {
	N, NaN         int     // the number of elements, and how many of them are NaN
	Min, Max, Mean float64 // of the elements that are not NaN; NaN if there are none
}

// String is, for example, "1000 elements from -2 to 3.5, mean 0.25, 4 NaN".
func (s Stats) String() string {
	text := count.Of(s.N, "element")
	if s.N > s.NaN {
		text += fmt.Sprintf(" from %.6g to %.6g, mean %.6g", s.Min, s.Max, s.Mean)
	}
	if s.NaN > 0 {
		text += fmt.Sprintf(", %d NaN", s.NaN)
	}
	return text
}

// Stats are the least element, the greatest, their mean, and how many are NaN. They are calculated on
// the device, and Stats waits for the current stream.
func (t *Tensor) Stats() Stats {
	const op = "Stats"
	t.usable(op)
	t.mustBeReal(op)
	t.rt.hostCall(op)
	s := Stats{N: t.n, Min: math.NaN(), Max: math.NaN(), Mean: math.NaN()}
	float := t.dtype.element().IsFloat()
	if float {
		s.NaN = int(t.reduced(op, "sum(isnan(x0))"))
	}
	if s.N == s.NaN {
		return s
	}
	least, greatest, sum := "min(x0)", "max(x0)", "f64(sum(x0))"
	if float {
		least, greatest, sum = "min(isnan(x0) ? inf : x0)", "max(isnan(x0) ? -inf : x0)", "sum(isnan(x0) ? 0 : f64(x0))"
	}
	s.Min, s.Max = t.reduced(op, least), t.reduced(op, greatest)
	s.Mean = t.reduced(op, sum) / float64(s.N-s.NaN)
	return s
}

// reduced reads the result of a reduction of all elements.
func (t *Tensor) reduced(op, formula string) float64 {
	return readFloats[float64](t.rt.calculated(statistics, formula, []any{t}, true), op)[0]
}

// Extremes are the least and the greatest element of each part of a tensor, from which it can be
// drawn. One number of parts divides the elements into at most so many parts of neighbours. Two
// numbers, of rows and of columns, divide a matrix, whose rows are the last dimension, into
// rectangles, which follow each other by rows. All parts have the same size, but for the last ones,
// which may be smaller: n elements have parts of ⌈n/parts⌉. NaN and infinities are left out, and a
// part without other elements has NaN.
//
// They are calculated on the device, and Extremes waits for the current stream.
func (t *Tensor) Extremes(parts ...int) (least, greatest []float64) {
	const op = "Extremes"
	t.usable(op)
	t.mustBeReal(op)
	for _, n := range parts {
		if n <= 0 {
			panic(t.rt.misuse(op, "parts", "", "a number of parts must be positive, not %d", n))
		}
	}
	t.rt.hostCall(op)
	low, high := "min(x0)", "max(x0)"
	if t.dtype.element().IsFloat() {
		low, high = "min(isfinite(x0) ? x0 : inf)", "max(isfinite(x0) ? x0 : -inf)"
	}
	switch {
	case len(parts) != 1 && len(parts) != 2:
		panic(t.rt.misuse(op, "parts", "give one number, or of a matrix two, of rows and columns", "%d numbers of parts", len(parts)))
	case t.n == 0:
		return nil, nil
	case len(parts) == 1:
		elements := t.View(t.n, 1)
		return elements.grouped(low, parts[0]).finite(op), elements.grouped(high, parts[0]).finite(op)
	}
	columns := 1
	if len(t.shape) > 0 {
		columns = t.shape[len(t.shape)-1]
	}
	matrix := t.View(t.n/columns, columns)
	for _, side := range []struct {
		formula string
		into    *[]float64
	}{{low, &least}, {high, &greatest}} {
		turned := matrix.grouped(side.formula, parts[0]).Transpose().grouped(side.formula, parts[1])
		*side.into = turned.Transpose().finite(op)
	}
	return least, greatest
}

// grouped reduces the first dimension of a tensor of two in at most most groups of neighbours.
func (t *Tensor) grouped(formula string, most int) *Tensor {
	rows, columns := t.shape[0], t.shape[1]
	most = min(most, rows)
	share := (rows + most - 1) / most
	whole, groups := rows/share, (rows+share-1)/share
	out := t.rt.zeros(extremes.Name, t.dtype, []int{groups, columns}, groups*columns)
	t.rt.calculated(extremes, formula, []any{t.Slice(0, whole*share).View(whole, share, columns), Along(1),
		Into{out.Slice(0, whole)}}, true)
	if rest := rows % share; rest > 0 {
		t.rt.calculated(extremes, formula, []any{t.Slice(rows-rest, rows), Along(0), Into{out.Slice(whole, whole+1).View(columns)}}, true)
	}
	return out
}

// finite reads the elements, and gives NaN for infinities.
func (t *Tensor) finite(op string) []float64 {
	out := readFloats[float64](t, op)
	for i, v := range out {
		if math.IsInf(v, 0) {
			out[i] = math.NaN()
		}
	}
	return out
}
