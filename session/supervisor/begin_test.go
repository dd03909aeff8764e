package supervisor

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/inherit"
)

// A run begins at the noted place, in whatever pieces the stream is read.
func TestBeginFinder(t *testing.T) {
	const text = "before\nthe run"
	for _, c := range []struct {
		run, at  uint64
		expected uint64
		want     string
	}{
		{7, 0, 7, "<7>before\nthe run"},
		{7, 7, 7, "before\n<7>the run"},
		{7, 3, 7, "bef<7>ore\nthe run"},
		{7, uint64(len(text)), 7, text}, // it has printed nothing
		{6, 3, 7, text},                 // run 7 has not begun
		{7, 3, 0, text},                 // it began before
	} {
		for first := range len(text) {
			for second := first; second <= len(text); second++ {
				var f beginFinder
				var noted inherit.Beginning
				f.expected.Store(c.expected)
				noted.At.Store(c.at)
				noted.Run.Store(c.run)
				var got bytes.Buffer
				for _, part := range []string{text[:first], text[first:second], text[second:]} {
					f.split([]byte(part), &noted, func(b []byte) { got.Write(b) }, func(run uint64) { fmt.Fprintf(&got, "<%d>", run) })
				}
				if got.String() != c.want {
					t.Fatalf("run %d from %d, in 3 parts, from %d and from %d: %q", c.run, c.at, first, second, got.String())
				}
			}
		}
	}
}

// A worker notes the number of bytes that it has written before, whether they have been read or not.
func TestNote(t *testing.T) {
	var memory inherit.Memory
	p, ends, err := newPrinted(&memory)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	defer ends[1].Close()
	w, noted := ends[0], &memory.Begins[0]
	defer w.Close()
	for run, step := range []struct {
		write string
		flush bool
		want  uint64
	}{{"", false, 0}, {"abc", false, 3}, {"", true, 3}, {"de", true, 5}, {"f", false, 6}} {
		w.WriteString(step.write)
		if step.flush {
			p.flush(func(session.Stream, []byte) {})
		}
		noted.Note(uint64(run), int(w.Fd()))
		if noted.At.Load() != step.want || noted.Run.Load() != uint64(run) {
			t.Errorf("run %d begins at %d of run %d, want %d", run, noted.At.Load(), noted.Run.Load(), step.want)
		}
	}
	noted.Read.Add(1) // somebody reads, and never ends
	noted.Note(5, int(w.Fd()))
	if noted.At.Load() != 6 || noted.Run.Load() != 5 {
		t.Errorf("run 5 begins at %d of run %d, want 6", noted.At.Load(), noted.Run.Load())
	}
	noted.Note(6, -1)
	if noted.Run.Load() != 5 {
		t.Error("a run began on a descriptor that is not open")
	}
}
