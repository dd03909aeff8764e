package notebook

import (
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/chart"
)

// A chart in a notebook has clear paper and ink that can be read in both themes. Other pictures stay
// as they are.
func TestClearPaper(t *testing.T) {
	c := chart.Lines([]float64{1, 3, 2})
	c.Title = "waves"
	svg := c.SVG()
	if !strings.Contains(svg, "#FFFFFF") || !strings.Contains(svg, "#000000") {
		t.Fatalf("charts have changed:\n%s", svg)
	}
	got := clearPaper(svg)
	for _, colour := range []string{"#FFFFFF", "#000000", "#E1E1E1"} {
		if strings.Contains(got, colour) {
			t.Errorf("%s is left:\n%s", colour, got)
		}
	}
	if n := strings.Count(got, `<g fill="#787878" transform=`); n != 1 {
		t.Errorf("%d groups give words their colour:\n%s", n, got)
	}
	if !strings.Contains(got, "waves") || !strings.Contains(got, "#0072B2") {
		t.Errorf("text or lines are lost:\n%s", got)
	}
	const own = `<svg><path d="M0,0L9,0L9,9Z" style="fill:#FFFFFF" />` + "\n" + `<text fill="#000000">a</text></svg>`
	if got := clearPaper(own); got != own {
		t.Errorf("another picture became %s", got)
	}
	var shown Content
	data := Content{svgType: svg}
	onTheme(func(_ string, content any) { shown = content.(Content) })("display_data", Content{"data": data})
	if shown["data"].(Content)[svgType] != clearPaper(svg) || data[svgType] != svg {
		t.Error("the message has another picture, or the value was changed")
	}
}
