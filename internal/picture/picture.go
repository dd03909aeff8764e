package picture

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"io"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Picture is a picture with a size. Each of its methods calls Draw with an empty canvas of that
// size.
type Picture struct {
	Width, Height vg.Length
	Draw          func(*Canvas)
}

// Canvas is paper. Gonum's functions count from the lower left corner.
type Canvas struct {
	draw.Canvas
	tips []tip
}

// tip is a text that an SVG shows while the pointer rests on a place.
type tip struct {
	place vg.Rectangle
	text  string
}

// Tip makes an SVG show text while the pointer rests on place. Where tips overlap, the last one is
// shown.
func (c *Canvas) Tip(place vg.Rectangle, text string) {
	c.tips = append(c.tips, tip{place, text})
}

// fonts replaces the one font that vgsvg names by a list with substitutes.
var fonts = strings.NewReplacer("font-family:Liberation Sans;", "font-family:Liberation Sans,Arial,Helvetica,sans-serif;")

// SVG returns the picture as SVG, on white paper. It panics if the picture is empty.
func (p Picture) SVG() string {
	paper := vgsvg.New(p.Width, p.Height)
	c := &Canvas{Canvas: draw.New(paper)}
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	p.Draw(c)
	svg := fonts.Replace(strings.TrimSuffix(string(written(paper)), "</svg>\n"))
	var tips strings.Builder
	for _, t := range c.tips {
		size := t.place.Size()
		fmt.Fprintf(&tips, `<rect x="%.5g" y="%.5g" width="%.5g" height="%.5g" fill="none" pointer-events="all"><title>%s</title></rect>`+"\n",
			t.place.Min.X, p.Height-t.place.Max.Y, size.X, size.Y, html.EscapeString(t.text))
	}
	return svg + tips.String() + "</svg>\n"
}

func written(paper io.WriterTo) []byte {
	var b bytes.Buffer
	if _, err := paper.WriteTo(&b); err != nil {
		panic(fmt.Errorf("picture: %w", err))
	}
	return b.Bytes()
}
