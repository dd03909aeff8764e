package chart

import (
	"math"
	"strings"
	"testing"
)

func TestString(t *testing.T) {
	for want, c := range map[string]*Chart{
		"|▁▅█|\n0 to 2":                             Lines([]float64{0, 1, 2}),
		"|▁█| series 0\n|?█| series 1\n1 to 2":      Lines([]float32{1, 2}, []float64{math.NaN(), math.Inf(1)}),
		"|▁▃|\n|▆█|\n1 to 4":                        Heat([][]float64{{1, 2}, {3, 4}}),
		"|▁▂▄|\n|▅▇█|\n1 to 6":                      Heat(matrix{}),
		"||\nno numbers":                            Lines([]float64{}),
		"|" + strings.Repeat("█", 64) + "|\n3 to 3": Lines(constant(1000, 3)),
	} {
		if got := c.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func constant(n int, v float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// matrix is what a tensor is to a chart.
type matrix struct{}

func (matrix) Shape() []int        { return []int{2, 1, 3} }
func (matrix) Float64s() []float64 { return []float64{1, 2, 3, 4, 5, 6} }

func TestSVG(t *testing.T) {
	lines := Lines([]float64{1, math.NaN(), 3}, []int{3, 4}, []float64{})
	lines.Title, lines.Names = "two lines", []string{"a"}
	svg := lines.SVG()
	for _, part := range []string{"<svg", "two lines", ">a<", ">series 1<"} {
		if !strings.Contains(svg, part) {
			t.Errorf("the picture lacks %s", part)
		}
	}
	for text, f := range map[string]func(){
		"chart.Lines: a string is no series": func() { Lines("x") },
		"chart.Heat: a int is no matrix":     func() { Heat(3) },
		"chart.Heat: row 1 has 1 numbers":    func() { Heat([][]int{{1, 2}, {3}}) },
		"chart.Heat: there are no numbers":   func() { Heat([][]int{}) },
	} {
		func() {
			defer func() {
				if err, ok := recover().(error); !ok || !strings.HasPrefix(err.Error(), text) {
					t.Errorf("%v, want a panic that begins with %q", err, text)
				}
			}()
			f()
		}()
	}
}
