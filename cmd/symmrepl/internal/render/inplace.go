package render

import (
	"strings"
	"unicode/utf8"

	"github.com/symmrepl/symmrepl/session"
)

// shown is the display, or the remark with a topic, that was written last, which an update can replace.
type shown struct {
	id      string
	topic   string         // of a remark
	columns int            // of the terminal, when it was written
	lines   int            // of the terminal; 0 if their number is not known
	late    session.Output // if not on a terminal, an update that is written before the next text
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

// ShowsNotesInPlace reports whether a remark that has a topic takes the place of the one before: the session then goes on to tell the times.
func (p *Printer) ShowsNotesInPlace() bool { return p.NotesInPlace }

// topical writes a remark that has a topic, in the place of the one before if nothing was written since. What only goes on is left out where that cannot be. p.mu is
// held.
func (p *Printer) topical(o session.Output) {
	prefix, width := session.Prefix(o.Ranks, p.Size), narrow
	if p.Columns != nil {
		width = p.Columns()
	}
	last := p.shown
	over := p.NotesInPlace && last.topic == o.Topic && last.lines > 0 && last.columns == width && p.open.w == nil
	if o.Again && !over {
		return
	}
	p.writeLate()
	p.closeLine()
	p.buf.Reset()
	if over {
		p.buf.WriteString(strings.Repeat("\x1b[A", last.lines) + "\r\x1b[J")
	}
	text := p.fit(prefix, Plain(o.Text))
	p.lines(prefix, styleNote, text)
	p.write(p.err)
	p.shown = shown{topic: o.Topic, columns: width, lines: linesWithin(text, width-len(prefix))}
}

// linesWithin returns how many lines of a terminal a text takes that is so wide, 0 when a line of it is wider.
func linesWithin(text string, width int) int {
	n := 0
	for line := range strings.Lines(text) {
		if columns(strings.TrimSuffix(line, "\n")) > width || strings.ContainsAny(line, "\x1b\t\r") {
			return 0
		}
		n++
	}
	return n
}
