package render

import (
	"strings"
	"unicode/utf8"

	"github.com/symmrepl/symmrepl/session"
)

// shown is the display that was written last, which an update can take the place of.
type shown struct {
	id    string
	lines int            // of the terminal; 0 when it is not known how many
	late  session.Output // on anything but a terminal, an update that is written when something else is
}

// narrow is the longest line that every terminal has in one.
const narrow = 79

// display writes a display as text. One that updates what was written last takes its place on a terminal; elsewhere only the last of such updates
// is written. What was written before something else stays.
func (p *Printer) display(o session.Output) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := o.Display
	follows := d.Update && p.shown.id == d.ID && p.open.w == nil
	if follows && !p.InPlace {
		p.shown.late = o
		return
	}
	last := p.shown
	if follows {
		p.shown = shown{}
	}
	p.closeLine()
	p.buf.Reset()
	if follows && last.lines > 0 {
		p.buf.WriteString(strings.Repeat("\x1b[A", last.lines) + "\r\x1b[J")
	}
	p.lines(session.Prefix(o.Ranks, p.Size), "", o.Text)
	p.write(p.out)
	p.shown = shown{id: d.ID, lines: p.count(o)}
	if d.ID == "" {
		p.shown = shown{}
	}
}

// count returns how many lines of a terminal a display takes, 0 when that depends on the terminal.
func (p *Printer) count(o session.Output) int {
	prefix := len(session.Prefix(o.Ranks, p.Size))
	n := 0
	for line := range strings.Lines(o.Text) {
		if prefix+utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > narrow || strings.ContainsAny(line, "\x1b\t\r") {
			return 0
		}
		n++
	}
	return n
}

// settle ends what may still be updated: something else is about to be written. p.mu is held.
func (p *Printer) settle() {
	late := p.shown.late
	p.shown = shown{}
	if late.Text == "" {
		return
	}
	p.buf.Reset()
	p.lines(session.Prefix(late.Ranks, p.Size), "", late.Text)
	p.write(p.out)
}
