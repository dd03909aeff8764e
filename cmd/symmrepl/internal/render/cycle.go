package render

import (
	"fmt"
	"html"
	"math"
	"strings"
)

const nodeSize = 15 // radius of a rank in the picture

// CycleSVG draws ranks that wait in a cycle, each for the next and the last for the first: a ring of
// the ranks with arrows to the ranks that they wait for. It returns "" for a cycle that is too long
// to be drawn. Its colours are those of the notebook's theme.
func CycleSVG(ranks []int) string {
	n := len(ranks)
	if n < 2 || n > mostDrawn {
		return ""
	}
	radius := max(55, 2.6*nodeSize*float64(n)/math.Pi)
	side := 2 * (radius + nodeSize + 3)
	place := func(i int) (x, y float64) {
		angle := 2*math.Pi*float64(i)/float64(n) - math.Pi/2 // the first on top, then clockwise
		return side/2 + radius*math.Cos(angle), side/2 + radius*math.Sin(angle)
	}
	title := fmt.Sprintf("a cycle of %d waits", n)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="%s" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" `+
		`font-family="var(--jp-content-font-family, sans-serif)" font-size="12" text-anchor="middle" style="color: %s">`,
		html.EscapeString(title), side, side, side, side, themeText)
	for i := range ranks {
		arrow(&b, i, (i+1)%n, place)
	}
	for i, rank := range ranks {
		x, y := place(i)
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="%d" fill="none" stroke="currentColor" stroke-width="1.5"/>`, x, y, nodeSize)
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" fill="currentColor">%d</text>`, x, y+4, rank)
	}
	fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" fill="currentColor">cycle of %d</text></svg>`, side/2, side/2+4, n)
	return b.String()
}

// arrow draws a wait: a line between the edges of two ranks, with a head at the awaited one.
func arrow(b *strings.Builder, from, to int, place func(int) (x, y float64)) {
	x0, y0 := place(from)
	x1, y1 := place(to)
	length := math.Hypot(x1-x0, y1-y0)
	dx, dy := (x1-x0)/length, (y1-y0)/length
	x0, y0, x1, y1 = x0+dx*nodeSize, y0+dy*nodeSize, x1-dx*(nodeSize+2), y1-dy*(nodeSize+2)
	const head, half = 8, 3.5
	bx, by := x1-dx*head, y1-dy*head
	fmt.Fprintf(b, `<path d="M%.1f %.1fL%.1f %.1f" stroke="%s" stroke-width="1.5"/>`, x0, y0, bx, by, themeError)
	fmt.Fprintf(b, `<path d="M%.1f %.1fL%.1f %.1fL%.1f %.1fZ" fill="%s"/>`, x1, y1, bx-dy*half, by+dx*half, bx+dy*half,
		by-dx*half, themeError)
}

// Colours of the theme in JupyterLab, Notebook and nbconvert's HTML, with those of other front ends.
const (
	themeText  = "var(--jp-content-font-color1, currentcolor)"
	themeError = "var(--jp-error-color1, #d32f2f)"
)
