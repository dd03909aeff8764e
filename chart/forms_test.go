package chart

import (
	"math"
	"testing"
)

func TestSimpleRender(t *testing.T) {
	lines := Lines([]float64{1, math.NaN(), 3}, []int{4})
	lines.Title, lines.X, lines.Names, lines.LogY = "a title", "step", []string{"a"}, true
	for want, c := range map[string]*Chart{
		`{"Title":"a title","X":"step","Y":"","Names":["a"],"LogY":true,"Lines":[{"Values":[1,null,3],"Step":1},{"Values":[4],"Step":1}],"Heat":null}`: lines,
		`{"Title":"","X":"","Y":"","At":[8,16],"Lines":[{"Values":[null,2],"Step":1}],"Heat":null}`:                                                    Over([]int{8, 16}, []float64{math.Inf(1), 2}),
		`{"Title":"","X":"","Y":"","Heat":[[1,2],[3,null]]}`:                                                                                           Heat([][]float64{{1, 2}, {3, math.NaN()}}),
	} {
		if got := c.SimpleRender()["application/vnd.symmrepl.chart+json"]; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
