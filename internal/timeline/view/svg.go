package view

import (
	"fmt"
	"html"
	"strings"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/internal/timeline"
)

// Sizes of pictures in pixels. The script has the same.
const (
	width    = 960
	left     = 170 // of the labels
	right    = 14
	axis     = 24
	barSize  = 14
	partSize = 8
	gap      = 5
	legend   = 18
	listed   = 14 // names in the legend
)

// SVG draws all of a timeline; "" if nothing ran. Marks have their descriptions as titles, which
// programs show as tips where the picture stands in a page by itself.
func SVG(t *timeline.Timeline, theme Theme) string {
	if len(t.Ranks) == 0 || t.Took == 0 {
		return ""
	}
	return sceneOf(t).svg(theme)
}

// svg draws a scene.
func (sc *scene) svg(theme Theme) string {
	var b strings.Builder
	tops, bottom := sc.tops()
	entries := sc.legend()
	lines := legendLines(entries)
	height := bottom + 8 + legend*lines
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="Liberation Sans,Arial,Helvetica,sans-serif" font-size="11" fill="%s">`+"\n",
		width, height, width, height, theme.Ink)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="%s"/>`+"\n", width, height, theme.Paper)
	x := func(at int64) float64 { return left + (width-left-right)*float64(at)/float64(sc.took) }
	by := step(sc.took, 8)
	for at := int64(0); at <= sc.took; at += by {
		fmt.Fprintf(&b, `<path d="M%.1f %dV%d" stroke="%s"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x(at),
			axis-6, bottom, theme.Grid, x(at), axis-10, tick(at, sc.took, by))
	}
	for i, r := range sc.rows {
		if r.first && i > 0 {
			fmt.Fprintf(&b, `<path d="M0 %.1fH%d" stroke="%s"/>`+"\n", float64(tops[i])-gap/2.0, width, theme.Grid)
		}
		fmt.Fprintf(&b, `<text x="6" y="%d">%s</text>`+"\n", tops[i]+11, html.EscapeString(r.label))
	}
	sc.drawMarks(&b, tops, x)
	sc.drawArrows(&b, tops, x, theme)
	at := [2]int{left, bottom + 8}
	for _, e := range entries {
		w := entryWidth(e.words)
		if at[0]+w > width && at[0] > left {
			at = [2]int{left, at[1] + legend}
		}
		if e.colour != "" {
			fmt.Fprintf(&b, `<rect x="%d" y="%d" width="10" height="10" fill="%s"/>`, at[0], at[1]+2, e.colour)
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", at[0]+14, at[1]+11, html.EscapeString(e.words))
		at[0] += w
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// tops returns the positions at which the rows begin, and at which the last row ends.
func (sc *scene) tops() (tops []int, bottom int) {
	y := axis
	for _, r := range sc.rows {
		tops = append(tops, y)
		y += r.lanes*r.lane() + gap
	}
	return tops, y
}

// lane is the height of a lane of the row.
func (r row) lane() int {
	if r.parts {
		return barSize + partSize + 2
	}
	return barSize + 2
}

// place returns the position of a mark from above, and its height.
func (sc *scene) place(m *mark, tops []int) (y, height int) {
	y = tops[m.row] + m.lane*sc.rows[m.row].lane()
	if m.shape == bar {
		return y, barSize
	}
	return y + barSize, partSize
}

// drawMarks draws the marks. Of several on one pixel of a lane it draws the first.
func (sc *scene) drawMarks(b *strings.Builder, tops []int, x func(int64) float64) {
	type line struct {
		row, lane int
		shape     shape
	}
	reached := map[line]float64{}
	names := sc.numbers()
	for i := range sc.marks {
		m := &sc.marks[i]
		begin, end := x(m.begin), x(m.end())
		on := line{m.row, m.lane, m.shape}
		if end < reached[on] {
			continue
		}
		w := max(end-begin, 0.8)
		reached[on] = begin + w
		y, height := sc.place(m, tops)
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"><title>%s</title></rect>`, begin, y, w, height,
			sc.colour(m, names), html.EscapeString(m.tip()))
		if words := fit(m.name, w); m.shape == bar && words != "" {
			fmt.Fprintf(b, `<text x="%.1f" y="%d" fill="#ffffff" pointer-events="none">%s</text>`, begin+3, y+11, html.EscapeString(words))
		}
		b.WriteByte('\n')
	}
}

// fit shortens a name to a width in pixels; "" if nothing of it has room.
func fit(name string, width float64) string {
	runes := []rune(name)
	switch n := int((width - 6) / 6.2); {
	case n >= len(runes):
		return name
	case n >= 4:
		return string(runes[:n-1]) + "…"
	}
	return ""
}

// drawArrows draws the arrows that are longer than a pixel, at most one for each pair of places.
func (sc *scene) drawArrows(b *strings.Builder, tops []int, x func(int64) float64, theme Theme) {
	seen := map[[4]int]bool{}
	for _, a := range sc.arrows {
		from, to := &sc.marks[a.from], &sc.marks[a.to]
		y1, h1 := sc.place(from, tops)
		y2, h2 := sc.place(to, tops)
		end := to.end()
		x1, x2 := x(min(from.end(), max(from.begin, end))), x(end)
		if key := [4]int{int(x1), y1, int(x2), y2}; seen[key] {
			continue
		} else {
			seen[key] = true
		}
		start, tip, head := y1+h1/2, y2, -5
		if y1 > y2 { // from below
			tip, head = y2+h2, 5
		}
		dashes := ""
		if a.likely {
			dashes = ` stroke-dasharray="3 2"`
		}
		middle := float64(start+tip) / 2
		fmt.Fprintf(b, `<path d="M%.1f %dC%.1f %.1f %.1f %.1f %.1f %d" fill="none" stroke="%s" opacity="0.75"%s/><path d="M%.1f %dl-3 %dh6z" opacity="0.75"/>`+"\n",
			x1, start, x1, middle, x2, middle, x2, tip, theme.Ink, dashes, x2, tip, head)
	}
}

// entry is one of the legend.
type entry struct{ colour, words string }

// legend lists waits, names and remarks.
func (sc *scene) legend() (list []entry) {
	list = append(list, entry{waits, "waits"})
	for i, name := range sc.names {
		if i == listed {
			list = append(list, entry{"", "and " + count.Of(len(sc.names)-listed, "other")})
			break
		}
		list = append(list, entry{colours[i%len(colours)], fit(name, 6.2*32)})
	}
	if sc.more > 0 {
		list = append(list, entry{"", fmt.Sprintf("%d shorter ones are not shown", sc.more)})
	}
	return list
}

func entryWidth(words string) int { return 30 + int(6.2*float64(len([]rune(words)))) }

func legendLines(list []entry) int {
	lines, at := 1, left
	for _, e := range list {
		w := entryWidth(e.words)
		if at+w > width && at > left {
			lines, at = lines+1, left
		}
		at += w
	}
	return lines
}
