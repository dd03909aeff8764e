package command

import (
	"fmt"
	"slices"
	"time"
)

// picture draws the bars; what an operation was is said where the pointer rests.
func (t *timeline) picture() *sketch {
	const width, row, left = 600.0, 22.0, 60.0
	const waits = "#bbbbbb"
	names := t.names()
	p := newSketch(width+left+10, row*float64(len(t.ranks)+2+len(names)))
	x := func(at time.Duration) float64 { return left + width*float64(at)/float64(t.took) }
	bar := func(s span, y, height float64, colour, title string) {
		p.box(x(s.begin), y, max(x(s.begin+s.took)-x(s.begin), 0.5), height, colour, title)
	}
	for i, rank := range t.ranks {
		y := row * float64(i)
		p.words(4, y+15, "start", fmt.Sprint("rank ", rank))
		for _, s := range t.ops[rank] {
			title := s.title() + fmt.Sprintf(", %s from %s on", short(s.took), short(s.begin))
			bar(s, y+3, 16, colours[slices.Index(names, s.name)%len(colours)], title)
			for _, w := range s.waits {
				title := "waits " + short(w.took)
				if w.name != "" {
					title += " for rank " + w.name
				}
				bar(w, y+7, 8, waits, s.name+" "+title)
			}
		}
	}
	y := row * float64(len(t.ranks))
	p.words(left, y+15, "start", "0")
	p.words(left+width, y+15, "end", short(t.took))
	for i, name := range append([]string{"waits for another rank"}, names...) {
		y, colour := row*float64(len(t.ranks)+1+i), waits
		if i > 0 {
			colour = colours[(i-1)%len(colours)]
		}
		p.box(left, y+2, 14, 14, colour, "")
		p.words(left+20, y+14, "start", name)
	}
	return p
}
