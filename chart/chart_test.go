package chart

import (
	"encoding/xml"
	"io"
	"math"
	"slices"
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

// matrix has the methods of a tensor that a chart uses.
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
		"chart.Over: series 1 has 3 numbers, there are 2": func() { Over([]int{1, 2}, []int{1, 2}, []int{1, 2, 3}) },
		"chart.Page: 0 charts in rows of 1":               func() { Page(1) },
		"chart.Page: 1 charts in rows of 0":               func() { Page(0, lines) },
		"chart.Lines: a string is no series":              func() { Lines("x") },
		"chart.Heat: a int is no matrix":                  func() { Heat(3) },
		"chart.Heat: row 1 has 1 numbers":                 func() { Heat([][]int{{1, 2}, {3}}) },
		"chart.Heat: there are no numbers":                func() { Heat([][]int{}) },
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

// On logarithmic axes, equal ratios have equal distances.
func TestLogarithmic(t *testing.T) {
	c := Over([]int{1, 10, 100}, []float64{2, 20, 200}, []float64{0, -1, math.NaN()})
	c.LogX, c.LogY, c.Marks = true, true, []string{"one", "ten", "hundred"}
	svg := c.SVG()
	for _, part := range []string{">one<", ">ten<", ">hundred<", ">1000<"} {
		if !strings.Contains(svg, part) {
			t.Errorf("the picture lacks %s", part)
		}
	}
	for _, c := range []*Chart{Over([]int{7}, []int{10}), Over([]int{}, []int{}), Over([]int{0}, []int{0})} {
		c.LogX, c.LogY = true, true
		c.SVG() // must not panic
	}
	p := c.plot()
	if at := []float64{p.X.Norm(1), p.X.Norm(10), p.X.Norm(100), p.Y.Norm(1), p.Y.Norm(1000)}; !slices.Equal(at, []float64{0, 0.5, 1, 0, 1}) {
		t.Errorf("positions along the axes: %v", at)
	}
}

// A page holds every chart in its place, and the picture has the size of all of them.
func TestPage(t *testing.T) {
	a, b, c := Lines([]int{1, 2}), Lines([]int{3, 4}), Lines([]int{5, 6})
	a.Title, b.Title, c.Title = "first", "second", "third"
	svg := Page(2, a, b, nil, c)
	d := xml.NewDecoder(strings.NewReader(svg))
	var texts []string
	size := ""
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			if x.Name.Local == "svg" {
				size = x.Attr[0].Value + " " + x.Attr[1].Value
			}
		case xml.CharData:
			if s := string(x); s == "first" || s == "second" || s == "third" {
				texts = append(texts, s)
			}
		}
	}
	if size != "720pt 432pt" || !slices.Equal(texts, []string{"first", "second", "third"}) {
		t.Errorf("a picture of %s with %v", size, texts)
	}
}
