package session

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"
)

const (
	tick       = 50 * time.Millisecond  // between two calls of run.tick
	promptly   = 2 * tick               // within which a rank that is not held up answers
	abortGrace = 100 * time.Millisecond // between the first failure of a rank and the release of those who wait for it
	abortWait  = 0.05                   // seconds a wait must have lasted to be ended because a rank failed
	abortSoon  = 1                      // seconds within which a wait ends by itself that is left to do so where its peer's wait has, too
	idleKeep   = 1 << 20                // bytes printed between cells that are kept for the next
)

// run is one cell on its way through the ranks. The fields down to over do not change after newRun. Those below belong to the goroutine
// that runs loop.
type run struct {
	c            *controller
	number       uint64
	cell         Cell
	ranks        []int
	incarnations map[int]int // of the workers that run it
	fold         *fold
	before       *fold          // of what is printed before the cell begins; it goes to fold
	begun        map[place]bool // where the cell has begun; controller.mu guards it
	events       chan runEvent
	over         chan struct{} // closed when loop has ended: events are no longer received
	shown        atomic.Int64  // when output was shown last, in nanoseconds since 1970; several goroutines show some

	started     time.Time
	left        map[int]bool   // ranks that have not finished
	results     map[int]Result // of those that have
	aborted     map[int]string // ranks whose waits were ended, and why
	failedAt    time.Time      // of the first failure
	interrupted time.Time
	killed      map[int]bool    // ranks whose workers were killed because they did not stop
	fatal       map[int]*Error  // errors after which the worker is replaced
	died        map[int]string  // ranks whose workers died, and how
	tallies     map[int][]Tally // of the ranks that are done
	late        map[int]string  // of those, the calls of interrupted cells that still run
	watch       watch
	probes      map[int]probe // that ranks have not answered
}

// probe is a question to a rank that shows, when it is answered promptly, that the rank is not held up.
type probe struct {
	id uint64
	at time.Time
}

// place is a stream of a rank.
type place struct {
	rank   int
	stream Stream
}

type runEvent struct {
	rank int
	answer
}

// event passes an event to loop. The controller calls it.
func (r *run) event(rank int, e event, payload []byte) {
	select {
	case r.events <- runEvent{rank, answer{e, payload}}:
	case <-r.over:
	}
}

// give sends a line of standard input to a rank.
func (r *run) give(rank int, c inputCommand, text string) {
	c.Run = r.number
	r.c.tell(rank, command{Input: &c}, []byte(text))
}

// loop handles events until every rank has finished or died.
func (r *run) loop(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	defer close(r.over)
	interrupt := ctx.Done()
	for len(r.left) > 0 {
		select {
		case e := <-r.events:
			r.handle(e)
		case <-interrupt:
			interrupt = nil
			r.interrupted = time.Now()
			for _, rank := range r.running() {
				r.abort(rank, command{Cancel: r.number, Abort: "interrupted"})
			}
		case now := <-ticker.C:
			r.tick(now)
		}
	}
}

func (r *run) handle(e runEvent) {
	switch {
	case !r.left[e.rank]:
	case e.Done != nil && e.Done.Run == r.number && e.Done.Err != nil && e.Done.Err.Fatal:
		// The rank finishes when its worker has died.
		r.fatal[e.rank] = e.Done.Err
		r.kill(e.rank, "cannot go on: "+firstLine(e.Done.Err.Msg))
	case e.Done != nil && e.Done.Run == r.number:
		r.tallies[e.rank], r.late[e.rank] = e.Done.Tallies, e.Done.Late
		result := Result{Value: string(e.payload), HasValue: e.Done.HasValue, Err: e.Done.Err}
		if e.Done.Rich {
			var rich richValue
			json.Unmarshal(e.payload, &rich) // a value that cannot be read has no forms
			result.Value, result.Data, result.Metadata = rich.Text, rich.Data, rich.Metadata
		}
		r.rankDone(e.rank, result, false)
	case e.Died != nil:
		if !r.killed[e.rank] && !r.c.ends(e.Died) {
			r.died[e.rank] = e.Died.Cause
		}
		r.rankDone(e.rank, Result{Err: r.deathError(e.rank, e.Died)}, true)
	case e.Status != nil || e.Process != nil:
		r.watch.answer(e, time.Now())
		if !r.failedAt.IsZero() {
			r.releasePeers()
			r.note(r.watch.deaths(r, time.Now()))
		}
	case e.Probe != 0:
		r.probeAnswered(e)
	}
}

// rankDone records the result of a rank. If it died, the controller has already made it leave the hub.
func (r *run) rankDone(rank int, result Result, died bool) {
	delete(r.left, rank)
	r.results[rank] = result
	r.fold.endRank(rank, time.Now())
	if result.Err != nil && r.failedAt.IsZero() {
		r.failedAt = time.Now()
	}
	switch {
	case died || !r.interrupted.IsZero(): // after an interrupt every rank reports that, not that another has left
	case result.Err != nil:
		r.c.hub.Leave(rank, "failed: "+firstLine(result.Err.Msg))
	default:
		r.c.hub.Leave(rank, "finished the cell without it")
	}
}

func (r *run) deathError(rank int, d *deathEvent) *Error {
	e := &Error{Kind: KindDied, Peer: -1, Msg: "the worker " + d.Cause, Hint: d.Next, Detail: d.Stderr}
	placeAt(e, r.cell, d.Offset-1)
	if d.Advice != "" {
		e.Msg += ": " + d.Advice
	}
	if d.Report != "" {
		e.Detail = "Go's report of it is in " + d.Report
	}
	if r.fatal[rank] != nil {
		return r.fatal[rank]
	}
	if r.c.ends(d) && !r.killed[rank] {
		return &Error{Kind: KindDied, Peer: -1, Msg: "the program " + d.Cause, Exited: true, Status: d.Status}
	}
	if r.killed[rank] {
		e.Kind = KindInterrupted
		e.Msg = fmt.Sprintf("the worker did not stop within %v of the interrupt and was killed", r.c.config.KillAfter)
	}
	return e
}

// running lists the ranks that have not finished, ascending.
func (r *run) running() []int {
	var ranks []int
	for _, rank := range r.ranks {
		if r.left[rank] {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// abort ends a rank's waits, after which all ranks have to recover.
func (r *run) abort(rank int, c command) {
	r.aborted[rank] = c.Abort
	r.c.tell(rank, c, nil)
}

// kill ends the worker that runs the cell, unless it has died by itself and another has its place.
func (r *run) kill(rank int, why string) {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	if r.c.ranks[rank].incarnation == r.incarnations[rank] {
		r.c.killWorker(rank, why)
	}
}

// tick shows overdue output, kills ranks that do not stop, and runs the watchdog.
func (r *run) tick(now time.Time) {
	r.before.tick(now)
	for _, rank := range r.fold.tick(now) {
		r.probe(rank)
	}
	if !r.interrupted.IsZero() && now.Sub(r.interrupted) >= r.c.config.KillAfter {
		r.insist(now)
	}
	failing := !r.failedAt.IsZero() && now.Sub(r.failedAt) >= abortGrace
	if r.watch.ask(now, r.started, failing) {
		for _, rank := range r.running() {
			r.c.tell(rank, command{Status: watchdogQuestion}, nil)
		}
	}
	r.note(r.watch.deaths(r, now))
	if text := r.watch.report(r, now); text != "" {
		r.fold.show(Output{Ranks: r.ranks, Stream: Note, Topic: "waits", Text: text})
	}
}

// insist kills the ranks that an interrupt has not stopped. If the user can ask for that, it only tells which ranks they are.
func (r *run) insist(now time.Time) {
	gone := false
	select {
	case <-r.cell.Gone:
		gone = true
	default:
	}
	if r.cell.Again != "" && !gone {
		r.note(r.watch.unstopped(r, now))
		return
	}
	for _, rank := range r.running() {
		if !r.killed[rank] {
			r.killed[rank] = true
			r.kill(rank, fmt.Sprintf("did not stop within %v and was killed", r.c.config.KillAfter))
		}
	}
}

// note shows a remark of the session, if there is one.
func (r *run) note(text string) {
	if text != "" {
		r.fold.show(Output{Ranks: r.ranks, Stream: Note, Text: text})
	}
}

// shownAt is when the cell has shown something last, or began.
func (r *run) shownAt() time.Time {
	if last := time.Unix(0, r.shown.Load()); last.After(r.started) {
		return last
	}
	return r.started
}

// stop is by what the user interrupts the cell.
func (r *run) stop() string { return cmp.Or(r.cell.Stop, "Ctrl-C") }

// probe asks a rank whose output others' lines wait for whether it is held up, unless it was asked and has not answered.
func (r *run) probe(rank int) {
	if _, asked := r.probes[rank]; asked {
		return
	}
	r.c.mu.Lock()
	r.c.questions++
	p := probe{r.c.questions, time.Now()}
	r.c.mu.Unlock()
	r.probes[rank] = p
	r.c.tell(rank, command{Probe: p.id}, nil)
}

// probeAnswered handles the answer to a probe. A rank whose answer is late was held up, or says that it is; it will be asked again.
func (r *run) probeAnswered(e runEvent) {
	p, asked := r.probes[e.rank]
	if !asked || e.Probe != p.id {
		return
	}
	delete(r.probes, e.rank)
	if time.Since(p.at) <= promptly && !e.HeldUp {
		r.fold.noteAlive(e.rank, p.at)
	}
}

// releasePeers ends the waits that a failed rank will never satisfy: those for the rank itself, those of which the peer is not known, and
// those for ranks that are released for the same reason. When a wait of the rank has reached its limit, waits that soon reach theirs are left
// alone: in a deadlock each says more by itself.
func (r *run) releasePeers() {
	if time.Since(r.failedAt) < abortGrace {
		return
	}
	cause, late := map[int]string{}, map[int]bool{}
	for _, rank := range r.ranks {
		result, finished := r.results[rank]
		switch {
		case !finished || result.Err == nil:
		case r.aborted[rank] != "": // it failed because another rank did
			cause[rank] = r.aborted[rank]
		case result.Err.Kind == KindPeer:
			cause[rank] = firstLine(result.Err.Msg)
		default:
			cause[rank] = fmt.Sprintf("rank %d failed: %s", rank, firstLine(result.Err.Msg))
			late[rank] = result.Err.Kind == KindTimeout
		}
	}
	for found := true; found; {
		found = false
		for _, rank := range r.running() {
			if cause[rank] != "" {
				continue
			}
			for _, w := range r.watch.waits(rank, r.failedAt) {
				peers := w.Peers
				if len(peers) == 0 { // it may be for any of them
					peers = r.ranks
				}
				for _, peer := range peers {
					soon := late[peer] && w.Limit > 0 && w.Limit-w.Since <= abortSoon
					if cause[rank] == "" && cause[peer] != "" && w.Since >= abortWait && !soon {
						cause[rank] = cause[peer]
						found = true
						if r.aborted[rank] == "" {
							r.abort(rank, command{Abort: cause[peer]})
						}
					}
				}
			}
		}
	}
}

func firstLine(s string) string {
	for i, c := range s {
		if c == '\n' {
			return s[:i]
		}
	}
	return s
}
