package controller

import (
	"reflect"
	"slices"
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

const (
	standEvery = 200 * time.Millisecond // between two questions to the ranks while some stand
	standWait  = 0.3                    // a rank that has waited for so many seconds is taken to wait for those that stand
)

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
		r.on[rank].stands = e
	}
	r.updateStop(time.Now())
}

// updateStop updates the stop's description of the ranks, and ends the stop if no rank stands any
// more.
func (r *run) updateStop(now time.Time) {
	standing := rankset.Filter(r.ranks, func(rank int) bool { return r.on[rank].stands != nil })
	if len(standing) == 0 {
		if r.halt != nil {
			r.endStop(now)
		}
		return
	}
	s := &session.Stop{Cell: r.cell.ID, Name: r.cell.Title(), Complete: true, Reason: r.on[standing[0]].stands.Reason}
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
	held := r.waitForStanding(now)
	for _, rank := range r.ranks {
		one := session.RankStop{Rank: rank, State: session.Runs}
		switch o := &r.on[rank]; {
		case o.stands != nil:
			one.State, one.Reason, one.Place = session.Stands, o.stands.Reason, o.stands.Place
		case o.result != nil:
			one.State = session.Finished
			one.Doing, _ = r.watch.describe(r, rank, now, nil)
		case held[rank]:
			one.State = session.Waits
			one.Doing, _ = r.watch.describe(r, rank, now, nil)
		}
		s.Complete = s.Complete && one.State != session.Runs
		s.Ranks = append(s.Ranks, one)
	}
	if r.halt == nil || !reflect.DeepEqual(s, r.halt) {
		r.halt = s
		r.c.publish(session.DebugEvent{Stopped: s})
	}
}

// waitForStanding returns the ranks that wait, in an operation, for ranks that stand or that wait in
// this way; and those that wait for a line that the user types.
func (r *run) waitForStanding(now time.Time) map[int]bool {
	held := map[int]bool{}
	for _, rank := range r.running() {
		v := r.watch.view(rank)
		if v == nil || r.on[rank].stands != nil || v.answered.Before(r.standsSince) {
			continue
		}
		m := v.manner()
		held[rank] = m == typing || m == spinning ||
			m == waiting && slices.ContainsFunc(v.waits, func(w session.Wait) bool { return w.Since+now.Sub(v.answered).Seconds() >= standWait })
	}
	for _, p := range r.c.hub.Pending() { // calls that meet on the host
		for _, rank := range p.Arrived {
			held[rank] = held[rank] || r.runs(rank) && r.on[rank].stands == nil && now.Sub(p.Since).Seconds() >= standWait &&
				slices.ContainsFunc(p.Missing, func(missing int) bool { return r.on[missing].stands != nil })
		}
	}
	halts := func(rank int) bool { return r.on[rank].stands != nil || held[rank] || !r.runs(rank) }
	for changed := true; changed; {
		changed = false
		for _, rank := range r.running() {
			v := r.watch.view(rank)
			if !held[rank] || v == nil || v.manner() != waiting {
				continue
			}
			if !slices.ContainsFunc(v.waits, func(w session.Wait) bool {
				return len(w.Peers) == 0 || slices.ContainsFunc(w.Peers, func(peer int) bool { return peer != rank && halts(peer) })
			}) {
				held[rank], changed = false, true
			}
		}
	}
	return held
}

// resume sends c to the ranks that stand, or to all ranks if the debugger leaves, and ends the
// stop.
func (r *run) resume(c wire.Debug) {
	ranks := r.running()
	if c.Resume != "" {
		ranks = rankset.Filter(ranks, func(rank int) bool { return r.on[rank].stands != nil })
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
		r.on[rank].stands = nil
	}
	id := r.halt.ID
	r.halt = nil
	r.stoodFor += now.Sub(r.standsSince)
	r.watch.resume(now)
	r.c.publish(session.DebugEvent{Continued: id})
}

// resume makes the watchdog begin anew: ranks stood until now.
func (w *watch) resume(now time.Time) {
	asked := w.asked
	*w = watch{asked: asked, since: now, told: w.told, shown: w.shown, hangs: w.hangs, deaths: w.deaths, asking: w.asking, resumed: now}
}

// sinceStop bounds the duration of something that lasts now by the time since ranks stood.
func (w *watch) sinceStop(lasts time.Duration, now time.Time) time.Duration {
	if w.resumed.IsZero() {
		return lasts
	}
	return min(lasts, now.Sub(w.resumed))
}
