package command

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot/text"

	"github.com/symmrepl/symmrepl/internal/picture"
	"github.com/symmrepl/symmrepl/internal/timeline"
)

// timelinePicture draws the bars of a timeline. Their tips describe the operations and waits.
func timelinePicture(t *timeline.Timeline) picture.Picture {
	const width, row, left = 600.0, 22.0, 120.0
	const waits = "#bbbbbb"
	bars := t.Bars()
	begin, end := timeline.Span(bars)
	names := timeline.Names(bars)
	x := func(at int64) float64 { return left + width*float64(at-begin)/float64(end-begin) }
	return inPixels(width+left+10, row*float64(len(bars)+2+len(names)), func(c *picture.Canvas) {
		bar := func(s *timeline.Slice, y, height float64, colour, tip string) {
			c.Tip(c.Box(x(s.Begin), y, max(x(s.End())-x(s.Begin), 0.5), height, colour), tip)
		}
		for i, b := range bars {
			y := row * float64(i)
			c.Words(4, y+15, text.XLeft, fmt.Sprintf("rank %d, %v", b.Rank, b.Track))
			within := map[int]string{} // names of calls
			for _, s := range b.Operations {
				within[s.Call] = s.Name
				tip := s.Title() + fmt.Sprintf(", %s from %s on", timeline.Short(s.Took), timeline.Short(s.Begin-begin))
				bar(s, y+3, 16, colour(slices.Index(names, s.Name)), tip)
			}
			for _, w := range b.Waits {
				tip := within[w.Call] + " waits " + timeline.Short(w.Took)
				if len(w.Peers) > 0 {
					tip += " for rank " + timeline.Ranks(w.Peers)
				}
				bar(w, y+7, 8, waits, tip)
			}
		}
		y := row * float64(len(bars))
		c.Words(left, y+15, text.XLeft, "0")
		c.Words(left+width, y+15, text.XRight, timeline.Short(end-begin))
		legend := func(i int, colour, words string) {
			y := row * float64(len(bars)+1+i)
			c.Box(left, y+2, 14, 14, colour)
			c.Words(left+20, y+14, text.XLeft, words)
		}
		legend(0, waits, "waits for another rank")
		for i, name := range names {
			legend(1+i, colour(i), name)
		}
	})
}
