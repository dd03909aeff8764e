package session

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// What goroutines of earlier cells print comes at any time, on each rank at another. Lines of a cell are compared by their position, so every
// worker marks in what it prints where the cell begins; its supervisor takes the marks out and reports them.

// beginMark is what a worker writes to both streams before anything of a run.
func beginMark(run uint64) []byte { return fmt.Appendf(nil, "\x1b_symmrepl;run;%d\x1b\\", run) }

// beginMarker writes the marks of a worker. It writes none to a stream that user code has closed or has directed elsewhere.
type beginMarker struct {
	files [2]*os.File // through which user code prints, too: what it writes by one call stays together
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
	expected atomic.Uint64 // the run whose mark is to come, 0 if none is
	held     []byte        // the last bytes of the stream, if that mark may begin with them
}

// split passes on the next bytes of the stream, and calls begin where the run begins that is expected. There is one call at a time.
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

// beginningAt returns where in b the last bytes are that mark begins with, len(b) if there are none.
func beginningAt(b, mark []byte) int {
	at := max(0, len(b)-len(mark)+1)
	for !bytes.HasPrefix(mark, b[at:]) {
		at++
	}
	return at
}
