package controller

import (
	"runtime"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Goroutines of earlier cells may print at any time, which differs between ranks. Lines of a cell
// are compared by their position, so every worker notes where in its output the cell begins. It does
// so in memory that it shares with its supervisor: a mark in the output would wake the supervisor
// for each stream.

// noteTries bounds how often noteBegin looks at a stream. Without quiet in that time, it may count bytes
// twice that the supervisor reads at the moment.
const noteTries = 1000

// noteBegin notes in the worker that a run begins, on the stream with the descriptor fd. It notes nothing
// if fd is not open.
func noteBegin(b *beginning, run uint64, fd int) {
	for try := range noteTries {
		read := b.read.Load()
		unread, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
		if err != nil {
			return
		}
		if read%2 == 0 && b.read.Load() == read || try == noteTries-1 {
			b.at.Store(read/2 + uint64(unread))
			b.run.Store(run)
			return
		}
		runtime.Gosched()
	}
}

// beginMarker notes the beginnings of runs in a worker. It notes none on a stream that user code has
// closed or redirected.
type beginMarker struct {
	shared *shared
	pipes  [2]unix.Stat_t
}

func newBeginMarker(s *shared) *beginMarker {
	m := &beginMarker{shared: s}
	for i := range m.pipes {
		unix.Fstat(i+1, &m.pipes[i])
	}
	return m
}

// mark notes that a run begins.
func (m *beginMarker) mark(run uint64) {
	for i := range m.pipes {
		var s unix.Stat_t
		if unix.Fstat(i+1, &s) == nil && s.Dev == m.pipes[i].Dev && s.Ino == m.pipes[i].Ino {
			noteBegin(&m.shared.begins[i], run, i+1)
		}
	}
}

// beginFinder finds in one stream of a worker where a run begins.
type beginFinder struct {
	expected atomic.Uint64 // the run whose beginning is expected, 0 if none
	passed   uint64        // number of bytes of the stream so far
}

// split passes on the next bytes of the stream, and calls begin at the place where the expected run
// begins: a run that prints nothing begins nowhere. Calls do not overlap.
func (f *beginFinder) split(b []byte, noted *beginning, pass func([]byte), begin func(run uint64)) {
	from := f.passed
	f.passed += uint64(len(b))
	if run := f.expected.Load(); run != 0 && noted.run.Load() == run {
		if at := noted.at.Load(); at < f.passed {
			if at > from {
				pass(b[:at-from])
				b = b[at-from:]
			}
			f.expected.CompareAndSwap(run, 0)
			begin(run)
		}
	}
	pass(b)
}
