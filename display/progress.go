package display

import (
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/session/inband"
)

// Progress is a bar that changes in place: how many steps are done, for how long they have run, and
// an estimate of the time that is left. It changes with each percent, not with time, so ranks that
// make the same progress share one bar; in a notebook, others have a bar each below it. A Progress is
// not safe for concurrent use.
type Progress struct {
	name        string
	total, done int
	shown       int       // percent shown, -1 before the first
	began       time.Time // of a program without a session, which knows when a bar began
}

// NewProgress shows a new bar for total steps. It replaces an earlier bar of the same name.
func NewProgress(name string, total int) *Progress {
	p := &Progress{name: name, total: max(total, 1), shown: -1, began: time.Now()}
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
	text, bar := p.forms(percent)
	steps := inband.Steps{Done: p.done, Total: p.total}
	if times := steps.Times(0, time.Since(p.began)); times != "" && !inSession() {
		text += ", " + times
	}
	write(inband.Display{ID: "progress " + p.name, Update: p.shown >= 0, Steps: &steps,
		Data: MIMEMap{MIMETypeText: text, MIMETypeHTML: bar}})
	p.shown = percent
}

// progressWidth is the width of a bar in characters.
const progressWidth = 30

// forms returns the bar as text and as HTML.
func (p *Progress) forms(percent int) (text, bar string) {
	full := percent * progressWidth / 100
	done := fmt.Sprintf("%d/%d", p.done, p.total)
	text = fmt.Sprintf("%s %s%s %3d %%, %s", p.name, strings.Repeat("█", full), strings.Repeat("░", progressWidth-full), percent, done)
	bar = fmt.Sprintf(`%s <progress max="100" value="%d"></progress> %d %%, %s`, html.EscapeString(p.name), percent, percent, done)
	return text, bar
}
