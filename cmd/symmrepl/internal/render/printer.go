package render

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/symmrepl/symmrepl/session"
)

// Printer writes output, values and errors of a session of Size ranks. Its methods may be called
// from several goroutines; the text of a call stays together.
type Printer struct {
	Size    int  // ranks of the session
	Colour  bool // emphasise with ANSI escapes
	Bold    bool // with Colour: emphasise by weight alone, which is readable on any background
	InPlace bool // overwrite updated displays, with ANSI escapes
	// NotesInPlace does the same for remarks with a topic. Notes and output must go to the same
	// terminal.
	NotesInPlace bool
	// Columns, if not nil, returns the width of the terminal. Text of the session is broken between
	// words to fit; output and values of cells are not.
	Columns func() int

	mu    sync.Mutex
	out   io.Writer
	err   io.Writer
	open  openLine
	shown shown
	buf   bytes.Buffer
}

// openLine is a line without its newline yet.
type openLine struct {
	w      io.Writer // nil when there is none
	prefix string
	stream session.Stream
}

// New returns a Printer that writes output and values to out, and errors and notes to err.
func New(out, err io.Writer, size int, colour bool) *Printer {
	return &Printer{Size: size, Colour: colour, out: out, err: err}
}

// Output writes output of ranks, each line with its prefix. It leaves a last line without newline
// open: further output of the same ranks and stream continues the line, any other text begins a new
// one.
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
	if o.Topic != "" {
		p.topical(o)
		return
	}
	p.writeLate()
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
	if o.Stream == session.Note {
		text = p.fit(prefix, Plain(text))
	}
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

// Note writes a remark of the front end about ranks (nil: about none in particular).
func (p *Printer) Note(ranks []int, format string, args ...any) {
	p.Output(session.Output{Ranks: ranks, Stream: session.Note, Text: fmt.Sprintf(format, args...) + "\n"})
}

// Reply closes a line that output left open, and writes the values, errors and findings of a cell.
// Values that differ only in other forms than text are one.
func (p *Printer) Reply(r session.Reply) {
	p.CloseLine()
	for _, v := range sameText(r.Values) {
		p.text(p.out, session.Prefix(v.Ranks, p.Size), "", v.Text)
	}
	for _, e := range Alike(r.Errors) {
		p.Error(e)
	}
	for _, f := range r.Findings {
		p.Finding(f)
	}
}

// sameText joins the ranks of values with the same text. A rank that has a text twice, as :why of two
// equal calls, is shown twice.
func sameText(values []session.Value) []session.Value {
	var out []session.Value
	at := map[string]int{}
	for _, v := range values {
		i, known := at[v.Text]
		if !known || slices.ContainsFunc(v.Ranks, func(rank int) bool { return slices.Contains(out[i].Ranks, rank) }) {
			at[v.Text] = len(out)
			out = append(out, session.Value{Ranks: v.Ranks, Text: v.Text})
			continue
		}
		out[i].Ranks = append(slices.Clone(out[i].Ranks), v.Ranks...)
		slices.Sort(out[i].Ranks)
	}
	return out
}

// Print writes text of the front end itself, such as a command's table, without prefix.
func (p *Printer) Print(text string) { p.text(p.out, "", "", text) }

// Fail writes one sentence about why the front end refuses something.
func (p *Printer) Fail(format string, args ...any) {
	p.text(p.err, "", styleError, p.fit("", Plain(fmt.Sprintf(format, args...))))
}

// CloseLine ends a line that output left open, and reports whether it did.
func (p *Printer) CloseLine() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writeLate()
	open := p.open.w != nil
	p.closeLine()
	return open
}

// text writes whole lines of text to w.
func (p *Printer) text(w io.Writer, prefix, style, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writeLate()
	p.closeLine()
	p.buf.Reset()
	p.lines(prefix, style, strings.TrimSuffix(Plain(text), "\n")+"\n")
	p.write(w)
}

// fit breaks text between words so that its lines, with a prefix, fit on the terminal.
func (p *Printer) fit(prefix, text string) string {
	if p.Columns == nil {
		return text
	}
	return Fit(text, p.Columns()-len(prefix))
}

// lines appends text to the buffer, every line with its prefix. p.mu is held.
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

// closeLine ends the open line. It does not touch the buffer. p.mu is held.
func (p *Printer) closeLine() {
	if p.open.w != nil {
		io.WriteString(p.open.w, "\n")
		p.open = openLine{}
	}
}

// write writes the buffer to w in one call. It ignores errors: if a terminal or pipe closes, a
// signal or the end of the input ends the session. p.mu is held.
func (p *Printer) write(w io.Writer) { w.Write(p.buf.Bytes()) }
