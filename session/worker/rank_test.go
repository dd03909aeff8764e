package worker

import (
	"testing"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/wire"
)

// waiting is a rank that has moved 8 times and waits.
type waiting struct {
	session.Communicator
	aborted chan struct{}
}

func (w *waiting) Abort(string)               { close(w.aborted) }
func (w *waiting) EndWaits(string)            { close(w.aborted) }
func (w *waiting) Progress() session.Progress { return session.Progress{Moves: 8} }

// A rank that has moved since its wait was found to be in vain is in another wait, which goes on.
func TestDeadlockOver(t *testing.T) {
	f := &waiting{aborted: make(chan struct{})}
	r := &Rank{Communicator: f, current: 5}
	r.endWaits(wire.Command{Abort: "rank 1 has finished the cell", Run: 5, InVain: true, Moves: 7})
	select {
	case <-f.aborted:
		t.Error("the wait of a rank that has moved was ended")
	default:
	}
	r.endWaits(wire.Command{Abort: "rank 1 has finished the cell", Run: 5, InVain: true, Moves: 8})
	<-f.aborted
}

// The waits of a run that has ended meanwhile are not those of the run in hand.
func TestWaitsOfPastRun(t *testing.T) {
	for _, current := range []uint64{0, 6} {
		f := &waiting{aborted: make(chan struct{})}
		r := &Rank{Communicator: f, current: current}
		r.endWaits(wire.Command{Abort: "rank 1 failed", Run: 5})
		r.endWaits(wire.Command{Abort: "rank 1 has finished the cell", Run: 5, InVain: true, Moves: 8})
		select {
		case <-f.aborted:
			t.Errorf("the waits of run %d were ended for run 5", current)
		default:
		}
	}
}
