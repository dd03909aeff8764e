package command

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"time"
)

// picture is an SVG of the bars; what an operation was is said where the pointer rests.
func (t *timeline) picture() string {
	const width, row, left = 600.0, 22.0, 60.0
	const waits = "#bbbbbb"
	names := t.names()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" font-family="sans-serif" font-size="12">`,
		width+left+10, row*float64(len(t.ranks)+2+len(names)))
	x := func(at time.Duration) float64 { return left + width*float64(at)/float64(t.took) }
	box := func(s span, y, height float64, colour, title string) {
		fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%g" fill="%s"><title>%s</title></rect>`,
			x(s.begin), y, max(x(s.begin+s.took)-x(s.begin), 0.5), height, colour, html.EscapeString(title))
	}
	for i, rank := range t.ranks {
		y := row * float64(i)
		fmt.Fprintf(&b, `<text x="4" y="%.1f" fill="#888888">rank %d</text>`, y+15, rank)
		for _, s := range t.ops[rank] {
			title := s.name
			if s.at != "" {
				title += " at " + s.at
			}
			title += fmt.Sprintf(", %s from %s on", short(s.took), short(s.begin))
			box(s, y+3, 16, colours[slices.Index(names, s.name)%len(colours)], title)
			for _, w := range s.waits {
				title := "waits " + short(w.took)
				if w.name != "" {
					title += " for rank " + w.name
				}
				box(w, y+7, 8, waits, s.name+" "+title)
			}
		}
	}
	y := row * float64(len(t.ranks))
	fmt.Fprintf(&b, `<text x="%g" y="%.1f" fill="#888888">0</text><text x="%g" y="%.1f" text-anchor="end" fill="#888888">%s</text>`,
		left, y+15, left+width, y+15, short(t.took))
	for i, name := range append([]string{"waits for another rank"}, names...) {
		y, colour := row*float64(len(t.ranks)+1+i), waits
		if i > 0 {
			colour = colours[(i-1)%len(colours)]
		}
		fmt.Fprintf(&b, `<rect x="%g" y="%.1f" width="14" height="14" fill="%s"/><text x="%g" y="%.1f" fill="#888888">%s</text>`,
			left, y+2, colour, left+20, y+14, html.EscapeString(name))
	}
	b.WriteString("</svg>")
	return b.String()
}
