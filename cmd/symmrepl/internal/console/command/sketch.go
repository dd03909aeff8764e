package command

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// sketch is a picture on white, as SVG and as PNG, which notebooks show also where they do not trust SVG. Positions are pixels from the upper left
// corner.
type sketch struct {
	svg    strings.Builder
	png    vgimg.PngCanvas
	canvas draw.Canvas // of the PNG
}

// ink is the colour of words and of edges.
const ink = "#333333"

func newSketch(width, height float64) *sketch {
	s := &sketch{png: vgimg.PngCanvas{Canvas: vgimg.New(pixels(width), pixels(height))}}
	s.canvas = draw.New(s.png)
	fmt.Fprintf(&s.svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]g" height="%[2]g" viewBox="0 0 %[1]g %[2]g"`, width, height)
	s.svg.WriteString(` font-family="sans-serif" font-size="12" style="background:#ffffff">`)
	return s
}

// pixels returns a length of so many pixels.
func pixels(n float64) vg.Length { return vg.Length(n) * vg.Inch / vgimg.DefaultDPI }

// at returns a point of the PNG, which counts from the lower left corner.
func (s *sketch) at(x, y float64) vg.Point {
	return vg.Point{X: pixels(x), Y: s.canvas.Max.Y - pixels(y)}
}

// rgb returns the colour that SVG calls #rrggbb.
func rgb(name string) color.Color {
	c := color.NRGBA{A: 255}
	fmt.Sscanf(name, "#%02x%02x%02x", &c.R, &c.G, &c.B)
	return c
}

// box draws a filled rectangle. title is shown where the pointer rests on it; "" for none.
func (s *sketch) box(x, y, width, height float64, colour, title string) {
	if title != "" {
		title = "<title>" + html.EscapeString(title) + "</title>"
	}
	fmt.Fprintf(&s.svg, `<rect x="%.1f" y="%.1f" width="%.1f" height="%g" fill="%s">%s</rect>`, x, y, width, height, colour, title)
	s.canvas.FillPolygon(rgb(colour), []vg.Point{s.at(x, y), s.at(x+width, y), s.at(x+width, y+height), s.at(x, y+height)})
}

// line draws a line of two pixels.
func (s *sketch) line(x1, y1, x2, y2 float64, colour string) {
	fmt.Fprintf(&s.svg, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="2"/>`, x1, y1, x2, y2, colour)
	s.canvas.StrokeLines(draw.LineStyle{Color: rgb(colour), Width: pixels(2)}, []vg.Point{s.at(x1, y1), s.at(x2, y2)})
}

// disc draws a filled circle with an edge.
func (s *sketch) disc(x, y, radius float64, colour string) {
	fmt.Fprintf(&s.svg, `<circle cx="%.1f" cy="%.1f" r="%g" fill="%s" stroke="%s"/>`, x, y, radius, colour, ink)
	var edge vg.Path
	edge.Move(s.at(x+radius, y))
	edge.Arc(s.at(x, y), pixels(radius), 0, 2*math.Pi)
	edge.Close()
	s.canvas.SetColor(rgb(colour))
	s.canvas.Fill(edge)
	s.canvas.SetLineStyle(draw.LineStyle{Color: rgb(ink), Width: pixels(1)})
	s.canvas.Stroke(edge)
}

// words draws a line of text. y is its base line; x is where it begins, has its middle or ends, as anchor says in SVG's words.
func (s *sketch) words(x, y float64, anchor, line string) {
	fmt.Fprintf(&s.svg, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s">%s</text>`, x, y, anchor, ink, html.EscapeString(line))
	style := text.Style{Color: rgb(ink), Font: font.From(plot.DefaultFont, pixels(12)), Handler: plot.DefaultTextHandler}
	style.Font.Variant = "Sans"
	style.XAlign = map[string]text.XAlignment{"start": text.XLeft, "middle": text.XCenter, "end": text.XRight}[anchor]
	s.canvas.FillText(style, s.at(x, y), line)
}

// data returns the picture in the forms of a cell's value.
func (s *sketch) data() map[string]any {
	var file bytes.Buffer
	s.png.WriteTo(&file) // a Buffer takes everything
	return map[string]any{"image/svg+xml": s.svg.String() + "</svg>", "image/png": base64.StdEncoding.EncodeToString(file.Bytes())}
}
