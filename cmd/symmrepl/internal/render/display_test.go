package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// bar returns a display of all ranks with this text.
func bar(id, text string, update bool) session.Output {
	return session.Output{Ranks: everyone, Stream: session.Stdout, Text: text, Display: &session.Display{ID: id, Update: update}}
}

func TestInPlace(t *testing.T) {
	a, b, c := bar("x", "a\n", false), bar("x", "b\n", true), bar("x", "c\n", true)
	text := session.Output{Ranks: everyone, Stream: session.Stdout, Text: "t\n"}
	const over = "\x1b[A\r\x1b[J"
	for name, test := range map[string]struct {
		outputs             []session.Output
		terminal, elsewhere string
	}{
		"updates": {[]session.Output{a, b, c}, "[0-3] a\n" + over + "[0-3] b\n" + over + "[0-3] c\n",
			"[0-3] a\n[0-3] c\n"},
		"an update after text": {[]session.Output{a, text, b, c}, "[0-3] a\n[0-3] t\n[0-3] b\n" + over + "[0-3] c\n",
			"[0-3] a\n[0-3] t\n[0-3] b\n[0-3] c\n"},
		"text after an update": {[]session.Output{a, b, text}, "[0-3] a\n" + over + "[0-3] b\n[0-3] t\n",
			"[0-3] a\n[0-3] b\n[0-3] t\n"},
		"of another": {[]session.Output{a, bar("y", "b\n", true)}, "[0-3] a\n[0-3] b\n", "[0-3] a\n[0-3] b\n"},
		"two lines": {[]session.Output{bar("x", "a\na\n", false), b}, "[0-3] a\n[0-3] a\n\x1b[A" + over + "[0-3] b\n",
			"[0-3] a\n[0-3] a\n[0-3] b\n"},
		"not an update": {[]session.Output{a, a}, "[0-3] a\n[0-3] a\n", "[0-3] a\n[0-3] a\n"},
		"after a line that is open": {[]session.Output{a, {Ranks: everyone, Stream: session.Stdout, Text: "t"}, b},
			"[0-3] a\n[0-3] t\n[0-3] b\n", "[0-3] a\n[0-3] t\n[0-3] b\n"},
	} {
		for _, inPlace := range []bool{true, false} {
			var b bytes.Buffer
			p := New(&b, &b, 4, false)
			p.InPlace = inPlace
			for _, o := range test.outputs {
				p.Output(o)
			}
			p.CloseLine()
			want := test.elsewhere
			if inPlace {
				want = test.terminal
			}
			if b.String() != want {
				t.Errorf("%s, in place %v: %q, want %q", name, inPlace, b.String(), want)
			}
		}
	}
}

// On a terminal, a remark with a topic overwrites the previous remark on that topic if nothing was
// written between them. Elsewhere only a worse remark is written.
func TestTopicsInPlace(t *testing.T) {
	note := func(text string, again bool) session.Output {
		return session.Output{Ranks: everyone, Stream: session.Note, Topic: "waits", Again: again, Text: text}
	}
	text := session.Output{Ranks: everyone, Stream: session.Stdout, Text: "t\n"}
	const over, line = "\x1b[A\r\x1b[J", "[0-3] "
	long := strings.Repeat("word ", 9)
	for name, test := range map[string]struct {
		outputs             []session.Output
		terminal, elsewhere string
	}{
		"times go on": {[]session.Output{note("a 1\n", false), note("a 2\n", true), note("a 3\n", true)}, line + "a 1\n" +
			over + line + "a 2\n" + over + line + "a 3\n", line + "a 1\n"},
		"it gets worse": {[]session.Output{note("a\n", false), note("b\nc\n", false), note("d\n", true)}, line + "a\n" +
			over + line + "b\n" + line + "c\n\x1b[A" + over + line + "d\n", line + "a\n" + line + "b\n" + line + "c\n"},
		"something is printed": {[]session.Output{note("a\n", false), text, note("b\n", true), note("c\n", false)}, line + "a\n" + line +
			"t\n" + line + "c\n", line + "a\n" + line + "t\n" + line + "c\n"},
		"nothing was told": {[]session.Output{note("a\n", true)}, "", ""},
		"a line is open": {[]session.Output{note("a\n", false), {Ranks: everyone, Stream: session.Stdout, Text: "t"},
			note("b\n", false)}, line + "a\n" + line + "t\n" + line + "b\n", line + "a\n" + line + "t\n" + line + "b\n"},
		"lines are broken": {[]session.Output{note(long+"\n", false), note("b\n", true)}, line +
			"word word word word word word word\n" + line + "  word word \n\x1b[A" + over + line + "b\n", line +
			"word word word word word word word\n" + line + "  word word \n"},
	} {
		for _, inPlace := range []bool{true, false} {
			var b bytes.Buffer
			p := New(&b, &b, 4, false)
			p.NotesInPlace, p.Columns = inPlace, func() int { return 40 }
			for _, o := range test.outputs {
				p.Output(o)
			}
			p.CloseLine()
			want := test.elsewhere
			if inPlace {
				want = test.terminal
			}
			if b.String() != want {
				t.Errorf("%s, in place %v:\n%q, want\n%q", name, inPlace, b.String(), want)
			}
		}
	}
}
