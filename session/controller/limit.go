package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/wire"
)

// limitGrace is the time that ranks may take to report their activity when the limit is over:
// seconds, if more threads want to run than there are processors.
const limitGrace = 4 * time.Second

// stopped handles the end of the cell's context: it interrupts the ranks, or notes that the limit is
// over.
func (r *run) stopped(ctx context.Context) {
	if !errors.As(context.Cause(ctx), &r.limit) {
		r.interrupt("interrupted")
		return
	}
	r.limitEnd = time.Now()
}

// reachLimit asks the ranks for their activity, when the limit is over. The time for which ranks
// stood does not count.
func (r *run) reachLimit(now time.Time) {
	if r.limitEnd.IsZero() || !r.limitAt.IsZero() || r.halt != nil || now.Before(r.limitEnd.Add(r.stoodFor)) {
		return
	}
	r.limitAt = now
	r.c.tell(r.running(), wire.Command{Status: wire.WatchdogQuestion}, nil)
}

// endAtLimit shows the activity of the ranks and interrupts them, once all ranks whose processes
// are not stopped have reported.
func (r *run) endAtLimit(now time.Time) {
	if r.limitAt.IsZero() || !r.interrupted.IsZero() {
		return
	}
	for _, rank := range r.running() {
		if !r.watch.HeardSince(rank, r.limitAt) && now.Sub(r.limitAt) < limitGrace {
			return
		}
	}
	t := r.watch.Activity(r.snapshot(now))
	text := fmt.Sprintf("%s has run for %.1f s and is ended, as %v:\n%s", r.cell.Title(), now.Sub(r.started).Seconds(), r.limit, t.Text)
	r.fold.Show(session.Output{Ranks: r.ranks, Stream: session.Note, Topic: "waits", Text: text, Hang: t.Rows, Cycle: t.Cycle})
	r.interrupt(r.limit.Error())
}
