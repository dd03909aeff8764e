package controller

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/symmrepl/symmrepl/internal/ras"
	"github.com/symmrepl/symmrepl/session/watchdog"
)

// Hangs inside NCCL
//
// Ranks that wait in NCCL's kernels show the session only that. NCCL's RAS knows more: which
// collectives each rank of each communicator has begun. While ranks have waited so for long, the
// watchdog asks RAS, on this host, and the table says which ranks are behind. Where RAS does not
// answer, the table is as it is without it.

const (
	rasLimit = 2 * time.Second // for an answer
	rasEvery = 5 * time.Second // between two questions
)

// rasQuestion is the latest question of a cell's watchdog to RAS, and the answer. The fields belong
// to the goroutine that runs run.loop.
type rasQuestion struct {
	asked  time.Time
	answer chan []string // of the question under way; nil if there is none
	lines  []string      // of the last answer
}

// askNCCL asks RAS if ranks have waited in NCCL for long, and takes its answer when it has come. It
// does not wait. cell.NCCL becomes the lines of the last answer.
func (r *run) askNCCL(cell *watchdog.Snapshot) {
	q := &r.ras
	select {
	case q.lines = <-q.answer:
		q.answer = nil
	default:
	}
	defer func() { cell.NCCL = q.lines }()
	address := ras.Address(os.Getenv)
	if !r.watch.InNCCL(cell) {
		q.lines = nil
		return
	}
	if q.answer != nil || address == "" || !q.asked.IsZero() && cell.Now.Sub(q.asked) < rasEvery {
		return
	}
	ranks := r.c.byProcess()
	answer := make(chan []string, 1)
	q.asked, q.answer = cell.Now, answer
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), rasLimit)
		defer cancel()
		status, err := ras.Ask(ctx, address)
		switch {
		case err == nil:
			answer <- status.Explain(ranks)
		case errors.Is(err, ras.ErrNoJSON):
			answer <- []string{err.Error()}
		default: // it does not answer
			answer <- nil
		}
	}()
}

// byProcess returns the ranks by the pids of their workers.
func (c *controller) byProcess() map[int]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	ranks := map[int]int{}
	for rank, s := range c.ranks {
		if s.ready != nil {
			ranks[s.ready.PID] = rank
		}
	}
	return ranks
}
