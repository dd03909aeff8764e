package controller

import (
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/session/inherit"
)

// noteTries bounds how often noteBegin looks at a stream. Without quiet in that time, it may count bytes
// twice that the supervisor reads at the moment.
const noteTries = 1000

// noteBegin notes in the worker that a run begins, on the stream with the descriptor fd. It notes nothing
// if fd is not open.
func noteBegin(b *inherit.Beginning, run uint64, fd int) {
	for try := range noteTries {
		read := b.Read.Load()
		unread, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
		if err != nil {
			return
		}
		if read%2 == 0 && b.Read.Load() == read || try == noteTries-1 {
			b.At.Store(read/2 + uint64(unread))
			b.Run.Store(run)
			return
		}
		runtime.Gosched()
	}
}

// beginMarker notes the beginnings of runs in a worker. It notes none on a stream that user code has
// closed or redirected.
type beginMarker struct {
	shared *inherit.Memory
	pipes  [2]unix.Stat_t
}

func newBeginMarker(s *inherit.Memory) *beginMarker {
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
			noteBegin(&m.shared.Begins[i], run, i+1)
		}
	}
}
