package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// hostile sets the clipboard, the title and a colour, clears the screen, and has an 8-bit control
// character.
const hostile = "a\x1b]52;c;eA==\a\x1b]0;t\x07\x1b[31m\x1b[2J\u009b31m\x9b\r\x7fb"

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\nü漢":  "a\tb\nü漢",
		"a\r\nb":    "a\nb",
		"\ufffd":    "\ufffd",
		hostile:     `a\x1b]52;c;eA==\x07\x1b]0;t\x07\x1b[31m\x1b[2J\u009b31m\x9b\r\x7fb`,
		"\x00\xff~": `\x00\xff~`,
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Remarks and errors of the session cite escape sequences without effect. Escape sequences in the
// output of cells reach the terminal.
func TestEscapesAreShown(t *testing.T) {
	var out bytes.Buffer
	p := New(&out, &out, 1, false)
	p.Reply(session.Reply{
		Values: []session.Value{{Text: hostile}},
		Errors: []*session.Error{{Kind: session.KindPanic, Msg: hostile, File: hostile, Line: 1, Column: 1, Source: hostile, Detail: "d" +
			hostile, Hint: hostile}},
	})
	p.Print(hostile)
	p.Note(nil, "%s", hostile)
	p.Fail("%s", hostile)
	if strings.ContainsAny(out.String(), "\x1b\a\r\x7f\u009b") {
		t.Errorf("%q", out.String())
	}
	out.Reset()
	p.Output(session.Output{Stream: session.Stdout, Text: hostile + "\n"})
	if out.String() != hostile+"\n" {
		t.Errorf("%q was printed", out.String())
	}
}
