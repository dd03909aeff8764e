package session

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// The text before and after the mark stays unchanged, even if it looks like a mark, in whatever
// pieces the stream is read.
func TestBeginFinder(t *testing.T) {
	mark := string(beginMark(7))
	for _, c := range []struct{ text, want string }{
		{mark, "<7>"},
		{"a\n" + mark + "b\n", "a\n<7>b\n"},
		{"a" + mark, "a<7>"},
		{mark + "b" + mark, "<7>b" + mark}, // a run begins once
		{"\x1b[1mbold\x1b_symmrepl;" + mark[:5] + mark + "\x1b", "\x1b[1mbold\x1b_symmrepl;" + mark[:5] + "<7>\x1b"},
		{string(beginMark(6)) + mark, string(beginMark(6)) + "<7>"},
	} {
		for first := range len(c.text) {
			for second := first; second <= len(c.text); second++ {
				var f beginFinder
				f.expected.Store(7)
				var got bytes.Buffer
				for _, part := range []string{c.text[:first], c.text[first:second], c.text[second:]} {
					f.split([]byte(part), func(b []byte) { got.Write(b) }, func(run uint64) { fmt.Fprintf(&got, "<%d>", run) })
				}
				if got.String() != c.want {
					t.Fatalf("%q in 3 parts, from %d and from %d: %q", c.text, first, second, got.String())
				}
			}
		}
	}
}

// Output that a rank printed before a cell, and that arrives while the cell runs, does not shift
// the rank's lines against the lines of the others.
func TestOldOutputArrivesLate(t *testing.T) {
	c := launch(t, 2)
	file := filepath.Join(t.TempDir(), "now")
	c.eval("1:later " + file + " old")
	s := c.c.keeper(1).(*supervisor)
	s.mu.Lock()
	pipe := s.process.pipes[0]
	s.mu.Unlock()
	pipe.mu.Lock() // nothing is read
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	soon(t, "rank 1 has printed", func() bool {
		waiting := 0
		pipe.raw.Control(func(fd uintptr) { waiting, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
		return waiting >= len("old\n")
	})
	shown := make(chan string)
	go func() { shown <- c.eval("print next\nprint last") }()
	soon(t, "the cell runs", func() bool { return c.c.runningCell() != "" })
	pipe.mu.Unlock()
	c.want(<-shown, "[1] old\n[0,1] next\n[0,1] last\n")
}

// A stream that user code has redirected gets no marks.
func TestNoMarkElsewhere(t *testing.T) {
	c := launch(t, 1)
	file := filepath.Join(t.TempDir(), "out")
	c.eval("direct " + file)
	c.want(c.eval("print there"), "")
	if text, err := os.ReadFile(file); string(text) != "there\n" {
		t.Errorf("%q, %v", text, err)
	}
}
