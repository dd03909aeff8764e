package bench

import (
	"context"
	"fmt"
	"sync"

	"github.com/symmrepl/symmrepl/session"
)

// Cells that simulated ranks know.
const (
	emptyCell = ""      // does nothing
	equalCell = "equal" // prints a line that is the same on all ranks
	ownCell   = "own"   // prints a line that is different on all ranks
	hungCell  = "hung"  // the last rank computes, and all others wait for it, until the cell is interrupted
)

// equalLine is the output of ranks in equalCell.
const equalLine = "step 100: loss 0.125\n"

// SimulatedRank makes an evaluator and a communicator for a simulated rank: they know a few cells
// and wait like a rank, without an interpreter and a device.
func SimulatedRank(r session.SimulatedRank) (session.Evaluator, session.Communicator) {
	s := &simulatedRank{SimulatedRank: r, aborted: make(chan struct{})}
	return s, s
}

type simulatedRank struct {
	session.SimulatedRank

	mu      sync.Mutex
	aborted chan struct{} // closed by Abort
	waits   []session.Wait
}

func (s *simulatedRank) Eval(ctx context.Context, cell session.Cell) session.Result {
	switch cell.Source {
	case equalCell:
		s.Print(equalLine)
	case ownCell:
		s.Print(fmt.Sprintf("rank %d: loss 0.125\n", s.Rank))
	case hungCell:
		return session.Result{Err: s.hang(ctx)}
	}
	return session.Result{}
}

func (s *simulatedRank) hang(ctx context.Context) *session.Error {
	last := s.Size - 1
	s.mu.Lock()
	aborted := s.aborted
	if s.Rank != last {
		s.waits = []session.Wait{{Op: "wait_signal", Peers: session.RankList{last}, For: "a signal on channel 0", Since: 2, At: cellName}}
	}
	s.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-aborted:
	}
	s.mu.Lock()
	s.waits = nil
	s.mu.Unlock()
	return &session.Error{Kind: session.KindInterrupted, Peer: -1, Msg: "interrupted"}
}

// cellName is the name of the cells.
const cellName = "simulated:1"

func (s *simulatedRank) Inspect(context.Context, session.Query) (session.Answer, error) {
	return session.Answer{}, nil
}

func (s *simulatedRank) Abort(string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.aborted:
	default:
		close(s.aborted)
	}
}

func (s *simulatedRank) Waits() []session.Wait {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waits
}

func (s *simulatedRank) Recover(context.Context, []int) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.aborted = make(chan struct{})
	return nil, nil
}

func (s *simulatedRank) Begin(uint64)                          {}
func (s *simulatedRank) Finish(context.Context) *session.Error { return nil }
func (s *simulatedRank) Tallies() []session.Tally              { return nil }
func (s *simulatedRank) Findings() []session.Finding           { return nil }
func (s *simulatedRank) Close() error                          { return nil }
