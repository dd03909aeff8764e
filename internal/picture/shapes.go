package picture

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Ink is the colour of words and of edges.
const Ink = "#333333"

// Pixels returns a length of n pixels.
func Pixels(n float64) vg.Length { return vg.Length(n) * vg.Inch / vgimg.DefaultDPI }

// RGB returns the colour that SVG calls #rrggbb.
func RGB(name string) color.Color {
	c := color.NRGBA{A: 255}
	fmt.Sscanf(name, "#%02x%02x%02x", &c.R, &c.G, &c.B)
	return c
}

// at returns the point at a number of pixels from the upper left corner.
func (c *Canvas) at(x, y float64) vg.Point {
	return vg.Point{X: Pixels(x), Y: c.Max.Y - Pixels(y)}
}

// Box draws a filled rectangle, whose upper left corner is x, y, and returns it. All numbers are
// pixels; x and y count from the upper left corner of the canvas, here and in the methods below.
func (c *Canvas) Box(x, y, width, height float64, colour string) vg.Rectangle {
	box := vg.Rectangle{Min: c.at(x, y+height), Max: c.at(x+width, y)}
	c.SetColor(RGB(colour))
	c.Fill(box.Path())
	return box
}

// Line draws a line two pixels wide.
func (c *Canvas) Line(x1, y1, x2, y2 float64, colour string) {
	c.StrokeLines(draw.LineStyle{Color: RGB(colour), Width: Pixels(2)}, []vg.Point{c.at(x1, y1), c.at(x2, y2)})
}

// Disc draws a filled circle with an edge around x, y.
func (c *Canvas) Disc(x, y, radius float64, colour string) {
	var edge vg.Path
	edge.Move(c.at(x+radius, y))
	edge.Arc(c.at(x, y), Pixels(radius), 0, 2*math.Pi)
	edge.Close()
	c.SetColor(RGB(colour))
	c.Fill(edge)
	c.SetLineStyle(draw.LineStyle{Color: RGB(Ink), Width: Pixels(1)})
	c.Stroke(edge)
}

// Words draws a line of text. y is its base line; x is its beginning with text.XLeft, its middle
// with text.XCenter, and its end with text.XRight.
func (c *Canvas) Words(x, y float64, align text.XAlignment, line string) {
	c.words(x, y, align, line, Ink)
}

// Note is Words in a grey that can be read on white paper, and on a dark page that shows through
// paper that a front end has cleared.
func (c *Canvas) Note(x, y float64, align text.XAlignment, line string) {
	c.words(x, y, align, line, "#787878")
}

func (c *Canvas) words(x, y float64, align text.XAlignment, line, colour string) {
	style := text.Style{Color: RGB(colour), Font: font.From(plot.DefaultFont, Pixels(12)), Handler: plot.DefaultTextHandler, XAlign: align}
	style.Font.Variant = "Sans"
	c.FillText(style, c.at(x, y), line)
}
