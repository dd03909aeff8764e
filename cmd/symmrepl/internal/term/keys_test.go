package term

import (
	"io"
	"strings"
	"testing"
	"time"
)

// feed returns a keys that has received these pieces of input.
func feed(pieces ...string) *keys {
	k := &keys{}
	k.more.L = &k.mu
	for _, piece := range pieces {
		k.arrived([]byte(piece))
	}
	return k
}

// read returns the next piece of input that keys hands out, and whether it was pasted.
func read(t *testing.T, k *keys) (text string, pasted bool) {
	t.Helper()
	p := make([]byte, 100)
	n, err := k.Read(p)
	if err != nil {
		t.Fatal(err)
	}
	if p[0] == keyPaste {
		return k.paste(), true
	}
	return string(p[:n]), false
}

func TestReadStopsAtLines(t *testing.T) {
	k := feed("one\rtwo\x03", "three\x04f\x1a\x1c\x00our\r")
	for _, want := range []string{"one\r", "two\a\x03", "three\x04", "four\r"} {
		if got, pasted := read(t, k); got != want || pasted {
			t.Errorf("read %q, pasted %v; want %q", got, pasted, want)
		}
	}
}

func TestEscapeSequencesAreKeys(t *testing.T) {
	k := feed("ab\x1b[Ac")
	for _, want := range []string{"ab", "\x10c"} {
		if got, _ := read(t, k); got != want {
			t.Errorf("read %q, want %q", got, want)
		}
	}
}

func TestEscapeSequence(t *testing.T) {
	for _, c := range []struct {
		text string
		size int
		key  byte
	}{
		{"\x1b[A1", 3, ctrlP}, {"\x1bOB", 3, ctrlN}, {"\x1b[1;5C", 6, keyWordRight}, {"\x1bOd", 3, keyWordLeft},
		{"\x1b[1;15D", 7, keyWordLeft},
		{"\x1b[4~", 4, ctrlE}, {"\x1b[1;2H", 6, ctrlA}, {"\x1b[3~", 4, keyDelete}, {"\x1b[3;5~", 6, keyDeleteWord}, {"\x1b\x7f", 2, ctrlW},
		{"\x1b\r", 2, keyNewline}, {"\x1b[15~", 5, 0}, {"\x1b[3$x", 4, 0}, {"\x1b[[Ax", 4, 0}, {"\x1bäx", 3, 0}, {"\x1b]0;t\ax", 6, 0},
		{"\x1bP1\x1b\\x", 5, 0}, {"\x1b[<0;1;1M", 9, 0}, {"\x1b\x1b[A", 1, 0}, {"\x1b\x03", 1, 0}, {"\x1b[1\x03", 3, 0},
		{"\x1bO\x03", 2, 0},
		{"\x1b]0;\r", 2, 0}, {"\x1b", 0, 0}, {"\x1b[", 0, 0}, {"\x1b[[", 0, 0}, {"\x1b[1;", 0, 0}, {"\x1bO", 0, 0}, {"\x1b]0;t", 0, 0},
	} {
		if size, key := escapeSequence([]byte(c.text)); size != c.size || key != c.key {
			t.Errorf("%q: size %d, key %#x; want %d, %#x", c.text, size, key, c.size, c.key)
		}
	}
}

func TestInterruptWhileRunning(t *testing.T) {
	k := feed("ahead")
	interrupted := 0
	k.running(func() { interrupted++ })
	k.arrived([]byte("x"))
	if interrupted != 0 {
		t.Error("interrupted by an ordinary key")
	}
	k.arrived([]byte("y\x03z"))
	k.arrived([]byte("\x03after\r"))
	if interrupted != 2 {
		t.Errorf("interrupted %d times, want 2", interrupted)
	}
	k.idle()
	if got, _ := read(t, k); got != "after\r" {
		t.Errorf("read %q after the cell", got)
	}
}

func TestInterruptTypedJustBefore(t *testing.T) {
	k := feed("\x03")
	interrupted := false
	k.running(func() { interrupted = true })
	if !interrupted {
		t.Error("Ctrl-C between prompt and cell was lost")
	}
}

func TestReadWaitsWhileRunning(t *testing.T) {
	k := feed("typed\r")
	k.running(func() {})
	got := make(chan string, 1)
	go func() {
		p := make([]byte, 10)
		n, _ := k.Read(p)
		got <- string(p[:n])
	}()
	select {
	case text := <-got:
		t.Fatalf("read %q while a cell runs", text)
	case <-time.After(20 * time.Millisecond):
	}
	k.idle()
	if text := <-got; text != "typed\r" {
		t.Errorf("read %q", text)
	}
}

func TestEndOfInput(t *testing.T) {
	k := newKeys(strings.NewReader(""))
	if n, err := k.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("read %d, %v", n, err)
	}
}

func FuzzKeys(f *testing.F) {
	f.Add([]byte("a\x1b[200~b\r\n\x1b[201~\x03"), 3)
	f.Fuzz(func(t *testing.T, typed []byte, cut int) {
		if cut = min(max(cut, 0), len(typed)); len(typed) == 0 {
			return
		}
		k := feed(string(typed[:cut]), string(typed[cut:]))
		p := make([]byte, 64)
		for len(k.queue) > 0 {
			n := k.take(p)
			if n > 0 && p[0] == keyPaste {
				k.pasted.next()
			}
			if n > 0 || len(k.queue) == 0 {
				continue
			}
			if size, _ := escapeSequence(k.queue); k.queue[0] != escape || size > 0 {
				t.Fatalf("stuck at %q", k.queue)
			}
			return
		}
	})
}
