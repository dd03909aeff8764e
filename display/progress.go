package display

import (
	"fmt"
	"html"
	"strings"
)

// Progress is a bar that changes in place. Its text changes when another percent is done, not with time, so that ranks which advance alike show one bar.
// It must not be used by several goroutines at once.
type Progress struct {
	name        string
	total, done int
	shown       int // percent, -1 before the first
}

// NewProgress shows the bar of something that has total steps. What has the name of an earlier bar takes its place.
func NewProgress(name string, total int) *Progress {
	p := &Progress{name: name, total: max(total, 1), shown: -1}
	p.Set(0)
	return p
}

// Add advances by steps.
func (p *Progress) Add(steps int) { p.Set(p.done + steps) }

// Set says how many steps are done.
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

// progressWidth is how many characters a bar has.
const progressWidth = 30

func (p *Progress) data(percent int) Data {
	full := percent * progressWidth / 100
	text := fmt.Sprintf("%s %s%s %3d %%", p.name, strings.Repeat("█", full), strings.Repeat("░", progressWidth-full), percent)
	bar := fmt.Sprintf(`%s <progress max="100" value="%d"></progress> %d %%`, html.EscapeString(p.name), percent, percent)
	return MakeData3(MIMETypeHTML, text, bar)
}
