package term

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// input returns all that keys hands out, with pasted text in brackets of its own.
func input(t *testing.T, k *keys) string {
	t.Helper()
	var b strings.Builder
	for len(k.queue) > 0 {
		if text, pasted := read(t, k); pasted {
			fmt.Fprintf(&b, "<%s>", text)
		} else {
			b.WriteString(text)
		}
	}
	return b.String()
}

// Pasted text is one key, whatever pieces it comes in; lines that are typed ahead stay lines.
func TestPaste(t *testing.T) {
	const text = "a\x1b[200~func f() {\r\n\r\n\tx\ry\n}\r\x1b[201~\rb\rc\r\x1b[200~d\x1b[201~\x1b[200~\x1b[201~e"
	const want = "a<func f() {\n\n\tx\ny\n}\n>\rb\rc\r<d><>e"
	for size := 1; size <= len(text); size++ {
		k := feed()
		for i := 0; i < len(text); i += size {
			k.arrived([]byte(text[i:min(i+size, len(text))]))
		}
		if got := input(t, k); got != want {
			t.Errorf("in pieces of %d: %q, want %q", size, got, want)
		}
	}
}

// Nothing in pasted text acts on the prompt or on the terminal.
func TestPasteIsPlain(t *testing.T) {
	for text, want := range map[string]string{
		"a\x03b\x04c\x1a\x00\x16d\x7f":                  "abcd",
		"\x1b[31mred\x1b[0m \x1b]0;title\a\x1b[A\x1b[D": "red ",
		"\x1b[200~x\x1b[200~":                           "x",
		"a\x1b\rb\x1b":                                  "ab",
		"\u009b31mé漢😀\u0085\u202f":                      "31mé漢😀\u202f",
		string(fill) + "x" + string(stored):             "x",
		"\x1bP" + strings.Repeat("q", 5000) + "\x1b\\":  strings.Repeat("q", 5000), // the end is a sequence, too
	} {
		k := feed("\x1b[200~" + text + "\x1b[201~!")
		if got := input(t, k); got != "<"+want+">!" {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A paste without an end takes Ctrl-C as its text, but not if nothing comes any more.
func TestPasteWithoutEnd(t *testing.T) {
	k := feed("\x1b[200~a\rb", "\x03", "c\r")
	if len(k.queue) > 0 {
		t.Errorf("queue %q", k.queue)
	}
	k.pasted.came = time.Now().Add(-stalled)
	k.arrived([]byte("\x03"))
	k.arrived([]byte("d\r"))
	if got := input(t, k); got != "\a\x03d\r" {
		t.Errorf("read %q", got)
	}
}

// While a cell runs, Ctrl-C in pasted text interrupts nothing. A typed one drops what came before.
func TestPasteWhileRunning(t *testing.T) {
	k := feed()
	interrupted := 0
	k.running(func() { interrupted++ })
	k.arrived([]byte("\x1b[200~a\x03b\x1b[201~"))
	if interrupted > 0 {
		t.Error("pasted text has interrupted the cell")
	}
	k.arrived([]byte("\x03\x1b[200~c\rd\r\x1b[201~"))
	if interrupted != 1 {
		t.Errorf("interrupted %d times, want once", interrupted)
	}
	for _, want := range []string{"c", "d"} { // the cell reads lines
		if got, err := k.line(context.Background(), func(string) {}); got != want || err != nil {
			t.Errorf("line %q, %v; want %q", got, err, want)
		}
	}
	k.idle()
	k.arrived([]byte("\x1b[200~e\rf\x1b[201~"))
	if got := input(t, k); got != "<e\nf>" {
		t.Errorf("read %q", got)
	}
}
