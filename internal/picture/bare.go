package picture

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// BarePNG returns the picture as PNG without paper, for pages of any colour. White is left out. A
// light grey, as of a grid, becomes translucent. Other colours of lines and words become lighter or
// darker until their contrast (WCAG 2) is at least 3:1, on white and on JupyterLab's dark page,
// #111111. So do colours that fill areas; with keepFills they stay, because they stand for numbers.
// It panics if the picture is empty.
func (p Picture) BarePNG(keepFills bool) []byte {
	paper := p.clear()
	p.Draw(&Canvas{Canvas: draw.New(&bare{CanvasSizer: paper, keepFills: keepFills})})
	return written(paper)
}

// ClearPNG returns the picture as PNG without paper, in its own colours; a PNG has no tips. It panics
// if the picture is empty.
func (p Picture) ClearPNG() []byte {
	paper := p.clear()
	p.Draw(&Canvas{Canvas: draw.New(paper)})
	return written(paper)
}

// clear returns a transparent canvas.
func (p Picture) clear() vgimg.PngCanvas {
	return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(p.Width, p.Height), vgimg.UseBackgroundColor(color.Transparent))}
}

// bare is a canvas that changes colours as BarePNG says.
type bare struct {
	vg.CanvasSizer
	keepFills bool
	colours   []color.Color // the colour that was set last; below it, those of Push
}

// SetColor implements vg.Canvas.
func (b *bare) SetColor(c color.Color) {
	if c == nil { // as gonum's canvases take it
		c = color.Black
	}
	b.colours = append(b.colours[:max(len(b.colours)-1, 0)], c)
	b.CanvasSizer.SetColor(onAnyPage(c))
}

// Push implements vg.Canvas.
func (b *bare) Push() {
	if len(b.colours) == 0 {
		b.colours = append(b.colours, color.Black)
	}
	b.colours = append(b.colours, b.colours[len(b.colours)-1])
	b.CanvasSizer.Push()
}

// Pop implements vg.Canvas.
func (b *bare) Pop() {
	b.colours = b.colours[:len(b.colours)-1]
	b.CanvasSizer.Pop()
}

// Fill implements vg.Canvas.
func (b *bare) Fill(area vg.Path) {
	if len(b.colours) > 0 {
		c := b.colours[len(b.colours)-1]
		if isWhite(c) {
			return
		}
		if b.keepFills {
			b.CanvasSizer.SetColor(c)
			defer b.SetColor(c)
		}
	}
	b.CanvasSizer.Fill(area)
}

// Luminances between which the contrast is at least 3:1 on white and on #111111, with some room for
// rounding.
const (
	darkest  = 3*(0.0056+0.05) - 0.05 + 0.005
	lightest = 1.05/3 - 0.05 - 0.005
)

// middle is the luminance of #787878, whose contrast is nearly the same on both pages.
const middle = 0.188

// faint is the luminance above which a grey is hardly darker than paper.
const faint = 0.7

// onAnyPage returns the colour that BarePNG draws in place of c.
func onAnyPage(c color.Color) color.Color {
	if isWhite(c) {
		return color.Transparent
	}
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	r, g, b := linear(n.R), linear(n.G), linear(n.B)
	switch l := 0.2126*r + 0.7152*g + 0.0722*b; {
	case l > faint && n.R == n.G && n.G == n.B:
		return color.NRGBA{128, 128, 128, 72}
	case l > lightest:
		part := lightest / l
		return color.NRGBA{encoded(r * part), encoded(g * part), encoded(b * part), n.A}
	case l < darkest:
		part := (middle - l) / (1 - l) // of white
		mix := func(v float64) uint8 { return encoded(v + part*(1-v)) }
		return color.NRGBA{mix(r), mix(g), mix(b), n.A}
	}
	return n
}

func isWhite(c color.Color) bool {
	return color.NRGBAModel.Convert(c) == color.NRGBA{255, 255, 255, 255}
}

// linear returns the light of a component of an sRGB colour, and encoded is its inverse.
func linear(v uint8) float64 {
	x := float64(v) / 255
	if x <= 0.04045 {
		return x / 12.92
	}
	return math.Pow((x+0.055)/1.055, 2.4)
}

func encoded(light float64) uint8 {
	x := 12.92 * light
	if light > 0.0031308 {
		x = 1.055*math.Pow(light, 1/2.4) - 0.055
	}
	return uint8(math.Round(255 * min(max(x, 0), 1)))
}
