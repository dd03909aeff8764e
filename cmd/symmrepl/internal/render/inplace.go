package render

import (
	"strings"
	"unicode/utf8"

	"github.com/symmrepl/symmrepl/session"
)

// shown is the display that was written last, which an update can replace.
type shown struct {
	id    string
	lines int            // of the terminal; 0 if their number is not known
	late  session.Output // if not on a terminal, an update that is written before the next text
}

// narrow is the longest line that no terminal wraps.
const narrow = 79

// display writes a display as text. On a terminal, an update of the display that was written last overwrites it; elsewhere only the last of
// several updates is written. A display stays once something else was written after it.
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

// writeLate writes an update that was delayed, because other text follows. p.mu is held.
func (p *Printer) writeLate() {
	late := p.shown.late
	p.shown = shown{}
	if late.Text == "" {
		return
	}
	p.buf.Reset()
	p.lines(session.Prefix(late.Ranks, p.Size), "", late.Text)
	p.write(p.out)
}
