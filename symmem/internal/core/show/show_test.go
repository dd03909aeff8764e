package show

import (
	"math"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// floats are the elements of a tensor of f32, of which reads are counted.
type floats struct {
	values []float32
	read   int
}

func (f *floats) Read(lo, hi int) []byte {
	f.read += hi - lo
	return element.Bytes(f.values[lo:hi])
}
func (f *floats) Stats() (Stats, bool) { return Stats{N: len(f.values), Max: 7}, true }
func (f *floats) Greatest(first, rows, columns int, parts ...int) []float64 {
	list := make([]float64, min(rows, parts[0])*parts[1])
	list[0] = 1
	return list
}

func tensor(f *floats, shape ...int) Tensor {
	return Tensor{Kind: "f32", Place: "cpu", Type: element.F32, Shape: shape, N: len(f.values), Surveys: true, Elements: f}
}

// Preview reads the ends of a large tensor alone, and aligns columns.
func TestPreview(t *testing.T) {
	large := &floats{values: make([]float32, 1000)}
	for _, c := range []struct {
		t    Tensor
		want string
	}{
		{tensor(&floats{values: []float32{1, -2.5}}, 2), "[1 -2.5]"},
		{tensor(&floats{}, 0), "[]"},
		{tensor(&floats{values: []float32{1, -2.5, 30, 4}}, 2, 2), "\n   1 -2.5\n  30    4"},
		{tensor(large, 1000), "[0 0 0 0 … 0 0 0 0]"},
	} {
		if got := Preview(c.t); got != c.want {
			t.Errorf("%v: %q, want %q", c.t.Shape, got, c.want)
		}
	}
	if large.read != 2*previewed {
		t.Errorf("%d elements were read", large.read)
	}
}

// HTML counts NaN of a small tensor itself, and asks for the statistics of a large one.
func TestHTML(t *testing.T) {
	text, shown := HTML(tensor(&floats{values: []float32{1, float32(math.NaN()), 3}}, 3))
	if shown.Min != "1" || shown.Max != "3" || shown.Mean != "2" || shown.NaN != 1 || !strings.Contains(text, "<b>1 NaN</b>") {
		t.Errorf("%+v\n%s", shown, text)
	}
	large := &floats{values: make([]float32, 2*readWhole)}
	text, shown = HTML(tensor(large, 2, readWhole))
	if shown.Max != "7" || large.read > 8*tabled || !strings.Contains(text, "<img") {
		t.Errorf("%d elements were read: %+v\n%.300s", large.read, shown, text)
	}
	unwatched := tensor(large, 2, readWhole)
	unwatched.Surveys = false
	if text, shown = HTML(unwatched); shown.Max != "" || strings.Contains(text, "<img") {
		t.Errorf("without the device: %+v", shown)
	}
}
