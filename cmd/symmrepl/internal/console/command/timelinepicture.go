package command

import (
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/plot/text"

	"github.com/symmrepl/symmrepl/internal/picture"
)

// picture draws the bars. Their tips describe the operations and waits.
func (t *timeline) picture() picture.Picture {
	const width, row, left = 600.0, 22.0, 60.0
	const waits = "#bbbbbb"
	names := t.names()
	x := func(at time.Duration) float64 { return left + width*float64(at)/float64(t.took) }
	return inPixels(width+left+10, row*float64(len(t.ranks)+2+len(names)), func(c *picture.Canvas) {
		bar := func(s span, y, height float64, colour, tip string) {
			c.Tip(c.Box(x(s.begin), y, max(x(s.begin+s.took)-x(s.begin), 0.5), height, colour), tip)
		}
		for i, rank := range t.ranks {
			y := row * float64(i)
			c.Words(4, y+15, text.XLeft, fmt.Sprint("rank ", rank))
			for _, s := range t.ops[rank] {
				tip := s.title() + fmt.Sprintf(", %s from %s on", short(s.took), short(s.begin))
				bar(s, y+3, 16, colour(slices.Index(names, s.name)), tip)
				for _, w := range s.waits {
					tip := s.name + " waits " + short(w.took)
					if w.name != "" {
						tip += " for rank " + w.name
					}
					bar(w, y+7, 8, waits, tip)
				}
			}
		}
		y := row * float64(len(t.ranks))
		c.Words(left, y+15, text.XLeft, "0")
		c.Words(left+width, y+15, text.XRight, short(t.took))
		legend := func(i int, colour, words string) {
			y := row * float64(len(t.ranks)+1+i)
			c.Box(left, y+2, 14, 14, colour)
			c.Words(left+20, y+14, text.XLeft, words)
		}
		legend(0, waits, "waits for another rank")
		for i, name := range names {
			legend(1+i, colour(i), name)
		}
	})
}
