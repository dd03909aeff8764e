package controller

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/internal/ras"
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
// does not wait.
func (r *run) askNCCL(now time.Time) {
	q := &r.watch.ras
	select {
	case q.lines = <-q.answer:
		q.answer = nil
	default:
	}
	address := ras.Address(os.Getenv)
	if !r.watch.inNCCL(r, now) {
		q.lines = nil
		return
	}
	if q.answer != nil || address == "" || !q.asked.IsZero() && now.Sub(q.asked) < rasEvery {
		return
	}
	ranks := r.c.byProcess()
	answer := make(chan []string, 1)
	q.asked, q.answer = now, answer
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

// inNCCL reports whether a rank waits inside NCCL for so long that the table may say so.
func (w *watch) inNCCL(r *run, now time.Time) bool {
	for _, rank := range r.running() {
		v := w.view(rank)
		if v == nil {
			continue
		}
		for _, wait := range v.waits {
			if wait.NCCL && time.Duration(wait.Since*float64(time.Second))+now.Sub(v.answered) >= hangAfter {
				return true
			}
		}
	}
	return false
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

// rows are the lines of the table.
func (q *rasQuestion) rows() string {
	if len(q.lines) == 0 {
		return ""
	}
	return "  " + strings.Join(q.lines, "\n  ") + "\n"
}
