package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"gonum.org/v1/plot/text"
)

// contrast returns the contrast of two opaque colours, as WCAG 2 defines it.
func contrast(a, b color.Color) float64 {
	light := func(c color.Color) float64 {
		n := color.NRGBAModel.Convert(c).(color.NRGBA)
		return 0.2126*linear(n.R) + 0.7152*linear(n.G) + 0.0722*linear(n.B) + 0.05
	}
	x, y := light(a), light(b)
	return max(x/y, y/x)
}

// A bare picture has no paper; its lines and words are readable on white and on JupyterLab's dark
// page, whatever colours they were drawn in; areas keep their colours if they stand for numbers.
func TestBarePNG(t *testing.T) {
	colours := []string{"#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#ffff00", "#00ff00", "#0000ff"}
	drawing := func(c *Canvas) {
		c.SetColor(color.White)
		c.Canvas.Fill(c.Canvas.Rectangle.Path())
		for i, colour := range colours {
			c.Line(0, float64(10*i+5), 50, float64(10*i+5), colour)
			c.Box(60, float64(10*i), 10, 10, colour)
		}
		c.Line(75, 0, 75, 100, "#e1e1e1")
		c.Words(80, 20, text.XLeft, "MMM")
	}
	for _, keep := range []bool{false, true} {
		drawn, err := png.Decode(bytes.NewReader(Picture{Pixels(120), Pixels(100), drawing}.BarePNG(keep)))
		if err != nil {
			t.Fatal(err)
		}
		at := func(x, y int) color.NRGBA { return color.NRGBAModel.Convert(drawn.At(x, y)).(color.NRGBA) }
		for _, p := range []image.Point{{55, 5}, {119, 99}, {20, 0}} {
			if got := at(p.X, p.Y); got.A != 0 {
				t.Errorf("the pixel at %v is %v, want it transparent", p, got)
			}
		}
		for i, colour := range colours {
			places := []image.Point{{20, 10*i + 5}, {65, 10*i + 5}}
			if keep {
				if got, want := at(65, 10*i+5), color.NRGBAModel.Convert(RGB(colour)); got != want {
					t.Errorf("the area is %v, want %v", got, want)
				}
				places = places[:1]
			}
			for _, p := range places {
				got := at(p.X, p.Y)
				if light, dark := contrast(got, color.White), contrast(got, RGB("#111111")); got.A != 255 || light < 3 || dark < 3 {
					t.Errorf("%s became %v at %v: the contrast is %.2f on white and %.2f on dark", colour, got, p, light, dark)
				}
			}
		}
		if got, want := at(75, 50), (color.NRGBA{128, 128, 128, 72}); got.A < 60 || got.A > 80 || contrast(got, want) > 1.05 {
			t.Errorf("the grid is %v, want %v", got, want)
		}
		var ink color.NRGBA // the most opaque pixel of the words
		for x := 80; x < 118; x++ {
			for y := 5; y < 30; y++ {
				if got := at(x, y); got.A > ink.A {
					ink = got
				}
			}
		}
		if ink.A < 200 || contrast(ink, color.White) < 3 || contrast(ink, RGB("#111111")) < 3 {
			t.Errorf("words are %v", ink)
		}
	}
}
