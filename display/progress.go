package display

import (
	"fmt"
	"html"
	"strings"
)

// Progress is a bar that changes in place. Its text changes with each percent, not with time, so
// ranks that make the same progress share one bar; in a notebook, others have a bar each below it. A
// Progress is not safe for concurrent use.
type Progress struct {
	name        string
	total, done int
	shown       int // percent shown, -1 before the first
}

// NewProgress shows a new bar for total steps. It replaces an earlier bar of the same name.
func NewProgress(name string, total int) *Progress {
	p := &Progress{name: name, total: max(total, 1), shown: -1}
	p.Set(0)
	return p
}

// Add advances the bar by steps.
func (p *Progress) Add(steps int) { p.Set(p.done + steps) }

// Set sets the number of steps done.
func (p *Progress) Set(done int) {
	p.done = min(max(done, 0), p.total)
	percent := p.done * 100 / p.total
	if percent == p.shown {
		return
	}
	id := "progress " + p.name
	if p.shown < 0 {
		Display(Named(id, p.data(percent)))
	} else {
		Update(id, p.data(percent))
	}
	p.shown = percent
}

// progressWidth is the width of a bar in characters.
const progressWidth = 30

func (p *Progress) data(percent int) Data {
	full := percent * progressWidth / 100
	text := fmt.Sprintf("%s %s%s %3d %%", p.name, strings.Repeat("█", full), strings.Repeat("░", progressWidth-full), percent)
	bar := fmt.Sprintf(`%s <progress max="100" value="%d"></progress> %d %%`, html.EscapeString(p.name), percent, percent)
	return MakeData3(MIMETypeHTML, text, bar)
}
