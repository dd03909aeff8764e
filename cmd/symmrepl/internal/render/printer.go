package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/symmrepl/symmrepl/session"
)

// Printer writes output, values and errors of a session of Size ranks. Its methods may be called from several
// goroutines; each call is written whole.
type Printer struct {
	Size    int  // ranks of the session
	Colour  bool // emphasis by ANSI escapes
	InPlace bool // what is updated is written over, by ANSI escapes

	mu    sync.Mutex
	out   io.Writer
	err   io.Writer
	open  openLine
	shown shown
	buf   bytes.Buffer
}

// openLine is a line written without its newline so far.
type openLine struct {
	w      io.Writer // nil when there is none
	prefix string
	stream session.Stream
}

// New returns a Printer that writes output and values to out, and errors and notes to err.
func New(out, err io.Writer, size int, colour bool) *Printer {
	return &Printer{Size: size, Colour: colour, out: out, err: err}
}

// Output writes what ranks printed, each line with its prefix. A last line without newline is left open: more
// of the same ranks and stream continues it, anything else begins a line of its own.
func (p *Printer) Output(o session.Output) {
	if o.Text == "" {
		return
	}
	if o.Display != nil {
		p.display(o)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle()
	prefix := session.Prefix(o.Ranks, p.Size)
	w := p.out
	style := ""
	switch o.Stream {
	case session.Stderr:
		w = p.err
	case session.Note:
		w, style = p.err, styleNote
	}
	p.buf.Reset()
	text := o.Text
	if p.open.w != nil {
		if p.open.w == w && p.open.prefix == prefix && p.open.stream == o.Stream {
			line, rest, whole := strings.Cut(text, "\n")
			p.buf.WriteString(line)
			text = rest
			if whole {
				p.buf.WriteByte('\n')
			} else {
				text = ""
			}
		} else {
			p.closeLine()
		}
	}
	p.lines(prefix, style, text)
	p.write(w)
	p.open = openLine{}
	if !strings.HasSuffix(o.Text, "\n") {
		p.open = openLine{w, prefix, o.Stream}
	}
}

// Note writes something the front end itself has to say about ranks (nil: about none in particular).
func (p *Printer) Note(ranks []int, format string, args ...any) {
	p.Output(session.Output{Ranks: ranks, Stream: session.Note, Text: fmt.Sprintf(format, args...) + "\n"})
}

// Reply writes the values and the errors of a cell and closes a line its output left open.
func (p *Printer) Reply(r session.Reply) {
	p.CloseLine()
	for _, v := range r.Values {
		p.text(p.out, session.Prefix(v.Ranks, p.Size), "", v.Text)
	}
	for _, e := range r.Errors {
		p.Error(e)
	}
}

// Print writes text of the front end itself, such as a command's table, without prefix.
func (p *Printer) Print(text string) { p.text(p.out, "", "", text) }

// Fail writes one sentence about something the front end itself refuses.
func (p *Printer) Fail(format string, args ...any) {
	p.text(p.err, "", styleError, fmt.Sprintf(format, args...))
}

// CloseLine ends a line that output left open, and reports whether there was one.
func (p *Printer) CloseLine() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle()
	open := p.open.w != nil
	p.closeLine()
	return open
}

// text writes whole lines of text to w.
func (p *Printer) text(w io.Writer, prefix, style, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle()
	p.closeLine()
	p.buf.Reset()
	p.lines(prefix, style, strings.TrimSuffix(text, "\n")+"\n")
	p.write(w)
}

// lines appends text to the buffer, every line with its prefix.
func (p *Printer) lines(prefix, style, text string) {
	prefix = p.paint(stylePrefix, prefix)
	for text != "" {
		line, rest, whole := strings.Cut(text, "\n")
		p.buf.WriteString(prefix)
		p.buf.WriteString(p.paint(style, line))
		if whole {
			p.buf.WriteByte('\n')
		}
		text = rest
	}
}

// closeLine ends the open line. The buffer may be in use by the caller.
func (p *Printer) closeLine() {
	if p.open.w != nil {
		io.WriteString(p.open.w, "\n")
		p.open = openLine{}
	}
}

// write hands the buffer to w in one call. A terminal or pipe that is gone cannot be told so: the session
// ends by the signal or the end of input that comes with it.
func (p *Printer) write(w io.Writer) { w.Write(p.buf.Bytes()) }
