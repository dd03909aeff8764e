package chart

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// large is a tensor of many elements, which must not be read: it has only what its device calculates.
type large struct {
	shape    []int
	elements []float64
	asked    [][]int
}

func (t *large) Numel() int          { return len(t.elements) }
func (t *large) Shape() []int        { return t.shape }
func (t *large) Float64s() []float64 { panic("all elements are read") }
func (t *large) Extremes(parts ...int) (least, greatest []float64) {
	t.asked = append(t.asked, parts)
	if len(parts) == 1 {
		return extremes(t.elements, len(t.elements), 1, parts[0])
	}
	return extremes(t.elements, t.shape[len(t.shape)-1], parts[0], parts[1])
}

func counted(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i)
	}
	return out
}

// Charts of many numbers are drawn from extremes, of slices and of tensors alike.
func TestReduced(t *testing.T) {
	const rows, columns = 300, 1000
	all := counted(rows * columns)
	all[77], all[5000], all[123456] = math.NaN(), math.Inf(1), -5
	matrix := make([][]float64, rows)
	for i := range matrix {
		matrix[i] = all[i*columns : (i+1)*columns]
	}
	x := &large{shape: []int{rows, columns}, elements: all}
	lines, heat := Lines(x), Heat(x)
	if got := fmt.Sprint(x.asked); got != "[[512] [48 96]]" {
		t.Errorf("the tensor is asked for extremes of %s", got)
	}
	for i, same := range []struct{ tensor, slice *Chart }{{lines, Lines(all)}, {heat, Heat(matrix)}, {Over(x, x), Over(all, all)}} {
		if same.tensor.String() != same.slice.String() || same.tensor.SVG() != same.slice.SVG() {
			t.Errorf("chart %d of a tensor is not that of a slice", i)
		}
	}
	// 586 numbers to a part: the last begins at 299446
	line := lines.lines[0]
	if line.n != rows*columns || len(line.values) != 2*512 || line.values[0] != 0 || line.values[1] != 585 || line.values[2*210] != -5 {
		t.Errorf("a line of %d numbers, of %d: %v", len(line.values), line.n, line.values[:4])
	}
	if p := lines.points(0); p[2].X != 586 || p[3].X != 879 || p[2].Y != 586 || p[3].Y != 1171 {
		t.Errorf("the second part is drawn at %v and %v", p[2], p[3])
	}
	if got := lines.String(); !strings.HasSuffix(got, "\n-5 to 3e+05") {
		t.Errorf("the text ends %q", got[len(got)-30:])
	}
	// rectangles of 7 rows and 11 columns
	g := heat.heat
	if c, r := g.Dims(); c != 91 || r != 43 || g.Z(0, 0) != 6*columns+10 || g.Z(90, 42) != rows*columns-1 || g.X(1) != 16 || g.Y(1) != -10 {
		t.Errorf("%d columns and %d rows, from %v to %v, the second ones at %v and %v", c, r, g.Z(0, 0), g.Z(90, 42), g.X(1), g.Y(1))
	}
	if line := Lines(counted(mostPoints)).lines[0]; len(line.values) != mostPoints || line.step != 1 {
		t.Errorf("a line of %d numbers has %d points", mostPoints, len(line.values))
	}
	defer func() {
		if err, ok := recover().(error); !ok || err.Error() != "chart.Over: series 0 has 299999 numbers, there are 300000 positions" {
			t.Errorf("%v", err)
		}
	}()
	Over(x, all[1:])
}
