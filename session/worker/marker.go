package worker

import (
	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/session/inherit"
)

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
			m.shared.Begins[i].Note(run, i+1)
		}
	}
}
