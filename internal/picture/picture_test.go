package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"gonum.org/v1/plot/text"
)

// pixels returns a drawing's PNG.
func pixels(t *testing.T, width, height float64, draw func(*Canvas)) image.Image {
	t.Helper()
	p := Picture{Pixels(width), Pixels(height), draw}
	drawn, err := png.Decode(bytes.NewReader(p.ClearPNG()))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := drawn.Bounds().Max, image.Pt(int(width), int(height)); got != want {
		t.Fatalf("the PNG has %v pixels, want %v", got, want)
	}
	return drawn
}

func shapes(c *Canvas) {
	c.Tip(c.Box(10, 20, 30, 10, "#2a9d4a"), "a & b")
	c.Line(0, 50, 100, 50, "#3a6ea5")
	c.Disc(80, 20, 10, "#eeeeee")
}

// Shapes stand where they are drawn, and the rest is transparent.
func TestShapes(t *testing.T) {
	drawn := pixels(t, 100, 60, shapes)
	for at, want := range map[image.Point]color.Color{
		{25, 25}: RGB("#2a9d4a"), {25, 35}: color.Transparent, {9, 25}: color.Transparent, {50, 49}: RGB("#3a6ea5"),
		{80, 20}: RGB("#eeeeee"), {92, 20}: color.Transparent,
	} {
		if got := color.NRGBAModel.Convert(drawn.At(at.X, at.Y)); got != color.NRGBAModel.Convert(want) {
			t.Errorf("the pixel at %v is %v, want %v", at, got, want)
		}
	}
}

// An SVG has the shapes of the PNG, in points, and a tip over each place that has one.
func TestSVG(t *testing.T) {
	svg := Picture{Pixels(100), Pixels(60), func(c *Canvas) {
		shapes(c)
		c.Words(50, 14, text.XLeft, "rank < 1")
	}}.SVG()
	for _, part := range []string{
		`<svg width="75pt" height="45pt" viewBox="0 0 75 45"`,
		`<path d="M0,0L75,0L75,45L0,45Z" style="fill:#FFFFFF" />`,
		`<path d="M7.5,22.5L30,22.5L30,30L7.5,30Z" style="fill:#2A9D4A" />`,
		`<path d="M0,7.5L75,7.5" style="fill:none;stroke:#3A6EA5;stroke-width:1.5" />`,
		`style="fill:#EEEEEE" />`,
		`style="font-family:Liberation Sans,Arial,Helvetica,sans-serif;font-variant:normal;font-weight:normal;font-style:normal;font-size:9px;fill:#333333">rank &lt; 1</text>`,
	} {
		if !strings.Contains(svg, part) {
			t.Errorf("the SVG lacks %s:\n%s", part, svg)
		}
	}
	const end = "</g>\n" + `<rect x="7.5" y="15" width="22.5" height="7.5" fill="none" pointer-events="all"><title>a &amp; b</title></rect>` + "\n</svg>\n"
	if !strings.HasSuffix(svg, end) {
		t.Errorf("%s\nwant at its end\n%s", svg, end)
	}
}

// Words take their place by their alignment.
func TestWords(t *testing.T) {
	for align, begin := range map[text.XAlignment]int{text.XLeft: 50, text.XCenter: 38, text.XRight: 25} {
		drawn := pixels(t, 100, 20, func(c *Canvas) { c.Words(50, 14, align, "rank") })
		if got := leftmost(drawn); got < begin-1 || got > begin+3 {
			t.Errorf("alignment %v: the words begin at %d, want about %d", align, got, begin)
		}
	}
}

// leftmost returns the first column with a pixel that is not transparent.
func leftmost(drawn image.Image) int {
	size := drawn.Bounds().Max
	for x := range size.X {
		for y := range size.Y {
			if _, _, _, a := drawn.At(x, y).RGBA(); a > 0 {
				return x
			}
		}
	}
	return size.X
}
