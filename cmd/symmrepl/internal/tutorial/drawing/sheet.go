package drawing

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// colour is one that stands out from both papers, see TestColours.
type colour string

const (
	blue   colour = "#3a6ea5"
	green  colour = "#21803c"
	red    colour = "#b5406b"
	violet colour = "#7a5fb0"
	brown  colour = "#a0622d"
	teal   colour = "#0f7f81"
	grey   colour = "#787878" // of words on the paper and of edges
	white  colour = "#ffffff" // of words in boxes
)

// several tells ranks, hosts or tokens apart.
var several = []colour{blue, green, brown, violet, red, teal}

// anchor is the part of words that stands at their place.
type anchor string

const (
	left   anchor = "start"
	middle anchor = "middle"
	right  anchor = "end"
)

// fontSize is the height of words, and wide at least the width of one letter, in pixels.
const (
	fontSize = 13
	wide     = 7.2
)

// sheet is the surface of a picture. Places are pixels from the upper left corner.
type sheet struct {
	width, height float64
	svg           strings.Builder
	outside       []string // words that do not fit: words, with the place
}

// box draws a filled box with lines of words in it.
func (s *sheet) box(x, y, w, h float64, c colour, lines ...string) {
	s.within(x, y, w, h, lines...)
	fmt.Fprintf(&s.svg, `<rect x="%g" y="%g" width="%g" height="%g" rx="4" fill="%s"/>`+"\n", x, y, w, h, c)
	top := y + (h-float64(len(lines))*(fontSize+3))/2 + fontSize
	for i, line := range lines {
		if float64(len([]rune(line)))*wide > w {
			s.outside = append(s.outside, fmt.Sprintf("%q in a box of %g", line, w))
		}
		s.text(x+w/2, top+float64(i)*(fontSize+3), middle, white, line)
	}
}

// frame draws an edge around other things, with a name at its upper left.
func (s *sheet) frame(x, y, w, h float64, name string) {
	s.within(x, y, w, h, name)
	fmt.Fprintf(&s.svg, `<rect x="%g" y="%g" width="%g" height="%g" rx="6" fill="none" stroke="%s" stroke-width="1.5"/>`+"\n", x,
		y, w, h, grey)
	s.words(x+8, y+fontSize+4, left, name)
}

// disc draws a filled circle around a place, with a word in it.
func (s *sheet) disc(x, y, radius float64, c colour, word string) {
	s.within(x-radius, y-radius, 2*radius, 2*radius, word)
	fmt.Fprintf(&s.svg, `<circle cx="%g" cy="%g" r="%g" fill="%s"/>`+"\n", x, y, radius, c)
	s.text(x, y+fontSize/2-2, middle, white, word)
}

// words writes on the paper. y is the base line.
func (s *sheet) words(x, y float64, a anchor, line string) {
	from, w := x, float64(len([]rune(line)))*wide
	switch a {
	case middle:
		from -= w / 2
	case right:
		from -= w
	}
	s.within(from, y-fontSize, w, fontSize+3, line)
	s.text(x, y, a, grey, line)
}

func (s *sheet) text(x, y float64, a anchor, c colour, line string) {
	fmt.Fprintf(&s.svg, `<text x="%g" y="%g" text-anchor="%s" fill="%s">%s</text>`+"\n", x, y, a, c, html.EscapeString(line))
}

// line draws a line without a head.
func (s *sheet) line(x1, y1, x2, y2 float64, c colour) { s.stroke(c, "", x1, y1, x2, y2) }

// arrow is data on its way: a put, a load, a row.
func (s *sheet) arrow(x1, y1, x2, y2 float64, c colour) {
	s.stroke(c, "", x1, y1, x2, y2)
	s.head(x1, y1, x2, y2, c)
}

// signal is a signal on its way, or the event for which a wait waits: a dashed arrow.
func (s *sheet) signal(x1, y1, x2, y2 float64, c colour) {
	s.stroke(c, ` stroke-dasharray="5 4"`, x1, y1, x2, y2)
	s.head(x1, y1, x2, y2, c)
}

// path draws an arrow around corners: pairs of x and y.
func (s *sheet) path(c colour, places ...float64) {
	s.stroke(c, "", places...)
	end := places[len(places)-4:]
	s.head(end[0], end[1], end[2], end[3], c)
}

func (s *sheet) stroke(c colour, style string, places ...float64) {
	fmt.Fprintf(&s.svg, `<path d="M%g %g`, places[0], places[1])
	for i := 2; i < len(places); i += 2 {
		fmt.Fprintf(&s.svg, "L%g %g", places[i], places[i+1])
	}
	for i := 0; i < len(places); i += 2 {
		s.within(places[i], places[i+1], 0, 0, "line")
	}
	fmt.Fprintf(&s.svg, `" fill="none" stroke="%s" stroke-width="2"%s/>`+"\n", c, style)
}

// head draws the head of an arrow that ends at x2, y2.
func (s *sheet) head(x1, y1, x2, y2 float64, c colour) {
	length := math.Hypot(x2-x1, y2-y1)
	dx, dy := (x2-x1)/length, (y2-y1)/length
	fmt.Fprintf(&s.svg, `<path d="M%g %gL%.1f %.1fL%.1f %.1fZ" fill="%s"/>`+"\n", x2, y2, x2-9*dx+4*dy, y2-9*dy-4*dx,
		x2-9*dx-4*dy, y2-9*dy+4*dx, c)
}

// within notes words that leave the sheet.
func (s *sheet) within(x, y, w, h float64, what ...string) {
	if x < 0 || y < 0 || x+w > s.width || y+h > s.height {
		s.outside = append(s.outside, fmt.Sprintf("%q at %g, %g", what, x, y))
	}
}

// String returns the picture.
func (s *sheet) String() string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %g %g" font-family="Liberation Sans,Arial,Helvetica,sans-serif" font-size="%d">`+"\n%s</svg>\n",
		s.width, s.height, s.width, s.height, fontSize, s.svg.String())
}
