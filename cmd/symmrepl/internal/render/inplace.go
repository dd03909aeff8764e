package render

import (
	"strings"
	"unicode/utf8"

	"github.com/symmrepl/symmrepl/session"
)

// shown is the display or remark with a topic that was written last. An update can replace it.
type shown struct {
	id      string
	topic   string         // of a remark
	columns int            // of the terminal, when it was written
	lines   int            // of the terminal; 0 if their number is not known
	late    session.Output // elsewhere than on a terminal: an update to write before the next text
}

// narrow is the longest line that no terminal wraps.
const narrow = 79

// display writes a display as text. On a terminal, an update of the last display overwrites it;
// elsewhere only the last of several updates is written. A display stays when other text follows
// it.
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

// count returns the number of terminal lines that a display takes, or 0 if it depends on the
// terminal.
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

// writeLate writes a delayed update, because other text follows. p.mu is held.
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

// ShowsNotesInPlace reports whether a remark replaces the previous one of its topic. If so, the
// session repeats remarks to update their times.
func (p *Printer) ShowsNotesInPlace() bool { return p.NotesInPlace }

// topical writes a remark that has a topic, in place of the previous one if no other text was
// written since. If it cannot replace that, remarks that only update times are dropped. p.mu is
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

// linesWithin returns the number of terminal lines of a text on a width of columns, or 0 if one of
// its lines is wider.
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
