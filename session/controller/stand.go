package controller

import (
	"reflect"
	"time"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/rankset"
	"github.com/symmrepl/symmrepl/session/wire"
)

// While ranks stand
//
// A rank that stands before a statement reports it (Stopped). From then on until the debugger
// lets the ranks go on, the run keeps a Stop, which describes each rank, and sends each change of
// it to the debuggers. Meanwhile nothing counts as a hang, no look for a deadlock is taken, and the
// program's time limit does not run. When the ranks go on, the watchdog begins anew: waits count
// from then on.

// do calls f on the goroutine that runs loop, unless the run is over.
func (r *run) do(f func()) {
	done := make(chan struct{})
	select {
	case r.orders <- func() { defer close(done); f() }:
		<-done
	case <-r.over:
	}
}

// stood records that ranks stand.
func (r *run) stood(ranks []int, e *wire.Stopped) {
	if e.Run != r.number || !r.interrupted.IsZero() {
		return
	}
	for _, rank := range ranks {
		r.on[rank].Stands = e
	}
	r.updateStop(time.Now())
}

// updateStop updates the stop's description of the ranks, and ends the stop if no rank stands any
// more.
func (r *run) updateStop(now time.Time) {
	standing := rankset.Filter(r.ranks, func(rank int) bool { return r.on[rank].Stands != nil })
	if len(standing) == 0 {
		if r.halt != nil {
			r.endStop(now)
		}
		return
	}
	s := &session.Stop{Cell: r.cell.ID, Name: r.cell.Title(), Complete: true, Reason: r.on[standing[0]].Stands.Reason}
	if r.halt != nil {
		s.ID, s.Reason = r.halt.ID, r.halt.Reason
	} else {
		r.standsSince = now
		r.c.mu.Lock()
		r.c.debug.stops++
		s.ID = r.c.debug.stops
		r.c.mu.Unlock()
		r.tellStopped(standing)
	}
	cell := r.snapshot(now)
	held := r.watch.WaitForStanding(cell, r.standsSince)
	for _, rank := range r.ranks {
		one := session.RankStop{Rank: rank, State: session.Runs}
		switch o := &r.on[rank]; {
		case o.Stands != nil:
			one.State, one.Reason, one.Place = session.Stands, o.Stands.Reason, o.Stands.Place
		case o.Result != nil:
			one.State = session.Finished
			one.Doing, _ = r.watch.Describe(cell, rank, nil)
		case held[rank]:
			one.State = session.Waits
			one.Doing, _ = r.watch.Describe(cell, rank, nil)
		}
		s.Complete = s.Complete && one.State != session.Runs
		s.Ranks = append(s.Ranks, one)
	}
	if r.halt == nil || !reflect.DeepEqual(s, r.halt) {
		r.halt = s
		r.c.publish(session.DebugEvent{Stopped: s})
	}
}

// resume sends c to the ranks that stand, or to all ranks if the debugger leaves, and ends the
// stop.
func (r *run) resume(c wire.Debug) {
	ranks := r.running()
	if c.Resume != "" {
		ranks = rankset.Filter(ranks, func(rank int) bool { return r.on[rank].Stands != nil })
	}
	if c.Leave {
		ranks = r.c.reachable()
	}
	r.c.tell(ranks, wire.Command{Debug: &c}, nil)
	if r.halt != nil {
		r.endStop(time.Now())
	}
}

// endStop notes that no rank stands any more.
func (r *run) endStop(now time.Time) {
	for rank := range r.on {
		r.on[rank].Stands = nil
	}
	id := r.halt.ID
	r.halt = nil
	r.stoodFor += now.Sub(r.standsSince)
	r.watch.Resume(now)
	r.c.publish(session.DebugEvent{Continued: id})
}
