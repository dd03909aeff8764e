package session

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Goroutines of earlier cells may print at any time, which differs between ranks. Lines of a cell
// are compared by their position, so every worker marks in its output where the cell begins; its
// supervisor removes the marks and reports them.

// beginMark returns the mark that a worker writes to both streams before any output of a run.
func beginMark(run uint64) []byte { return fmt.Appendf(nil, "\x1b_symmrepl;run;%d\x1b\\", run) }

// beginMarker writes the marks of a worker. It writes none to a stream that user code has closed or
// redirected.
type beginMarker struct {
	files [2]*os.File // user code prints through the same files, so each of its writes stays together
	pipes [2]unix.Stat_t
}

func newBeginMarker() *beginMarker {
	m := &beginMarker{files: [2]*os.File{os.Stdout, os.Stderr}}
	for i := range m.files {
		unix.Fstat(i+1, &m.pipes[i])
	}
	return m
}

// mark marks the beginning of a run.
func (m *beginMarker) mark(run uint64) {
	for i, f := range m.files {
		var s unix.Stat_t
		if unix.Fstat(i+1, &s) == nil && s.Dev == m.pipes[i].Dev && s.Ino == m.pipes[i].Ino {
			f.Write(beginMark(run)) // fails if user code has closed it
		}
	}
}

// beginFinder takes the marks out of one stream of a worker.
type beginFinder struct {
	expected atomic.Uint64 // the run whose mark is expected, 0 if none
	held     []byte        // the last bytes of the stream, if they may be the beginning of that mark
}

// split passes on the next bytes of the stream, and calls begin at the place where the expected run
// begins. Calls do not overlap.
func (f *beginFinder) split(b []byte, pass func([]byte), begin func(run uint64)) {
	run := f.expected.Load()
	if run == 0 {
		pass(b)
		return
	}
	b = slices.Concat(f.held, b)
	mark := beginMark(run)
	before, after, found := bytes.Cut(b, mark)
	if !found {
		at := beginningAt(b, mark)
		before, f.held = b[:at], b[at:]
	}
	if len(before) > 0 {
		pass(before)
	}
	if !found {
		return
	}
	f.held = nil
	f.expected.CompareAndSwap(run, 0)
	begin(run)
	if len(after) > 0 {
		pass(after)
	}
}

// beginningAt returns the index in b of a suffix that is a beginning of mark, len(b) if there is
// none.
func beginningAt(b, mark []byte) int {
	at := max(0, len(b)-len(mark)+1)
	for !bytes.HasPrefix(mark, b[at:]) {
		at++
	}
	return at
}
