package controller

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/fold"
	"github.com/symmrepl/symmrepl/session/rankset"
	"github.com/symmrepl/symmrepl/session/watchdog"
	"github.com/symmrepl/symmrepl/session/wire"
)

const (
	abortWait = 0.05 // seconds that a wait must have lasted before the failure of a rank ends it
	// a wait that reaches its limit within this many seconds is left alone if its failed peer's wait has
	// reached its limit, too
	abortSoon = 1
	idleKeep  = 1 << 20 // bytes of output between cells that are kept for the next cell
)

// run is one cell on its way through the ranks. The fields down to over do not change after newRun.
// The fields below over belong to the goroutine that runs loop.
type run struct {
	c      *controller
	number uint64
	cell   session.Cell
	guest  *borrowed // of a front end that has attached: the ranks hold the variables of others; nil for others
	ranks  []int
	fold   *fold.Fold
	before *fold.Fold // folds the output from before the cell begins and passes it to fold
	events *runEvents
	over   chan struct{} // closed when loop has ended
	shown  atomic.Int64  // time at which output was last shown, in nanoseconds since 1970; several goroutines set it

	orders chan func() // calls for the goroutine that runs loop

	sanitize        *session.Sanitizing // the change of the sanitizer before the cell; nil for none
	debugged        bool                // the cell's code can stand
	followsDebugger bool                // commands of a debugger may have come before the cell, which is not Silent

	started     time.Time
	on          []rankRun // by rank, including ranks that do not take part
	left        int       // number of ranks that have not finished
	failedAt    time.Time // of the first failure
	interrupted time.Time
	limit       session.Limit
	limitEnd    time.Time           // when the cell's context ended at the limit
	limitAt     time.Time           // time at which the limit was over
	hasAborted  bool                // waits of some rank were ended
	hasDied     bool                // some rank's worker has died
	inVain      *watchdog.EndInVain // what the ranks did when their waits were ended as a deadlock; nil if they were not
	halt        *session.Stop       // state of the ranks while some stand; nil if none does
	standsSince time.Time           // when the stop began
	stoodFor    time.Duration       // the time of earlier stops
	watch       watchdog.Watch
	ras         rasQuestion
	heard       bool // ranks have reported waits since the last call of releasePeers
	judging     bool // the ranks judge whether they are held up

	toldUnstopped bool // the session's users know that this guest's cell has not stopped
	toldStopped   bool // the cell's front end knows that the debugger of another one has stopped it
}

// rankRun is a cell on one rank. Except for its first fields it belongs to the goroutine that runs
// run.loop.
type rankRun struct {
	watchdog.Rank // what the watchdog knows of it

	incarnation int     // of the worker that runs it
	begun       [3]bool // by Stream: the cell has begun there; controller.mu guards it

	killed   bool           // the worker was killed because it did not stop
	fatal    *session.Error // an error after which the worker is replaced
	findings []session.Finding
	probe    *probe // the probe that the rank has not answered

	sanitizing *session.Sanitizing // set when the rank is done; nil if it has died
}

// runs reports whether a rank has not finished the cell.
func (r *run) runs(rank int) bool { return r.on[rank].TakesPart && r.on[rank].Result == nil }

// others lists the ranks that do not take part, ascending.
func (r *run) others() []int {
	if len(r.ranks) == r.c.size {
		return nil
	}
	return rankset.Filter(rankset.All(r.c.size), func(rank int) bool { return !r.on[rank].TakesPart })
}

// byIncarnation groups the ranks by the incarnation of the worker that runs the cell.
func (r *run) byIncarnation() map[int][]int {
	ranks := map[int][]int{}
	for _, rank := range r.ranks {
		n := r.on[rank].incarnation
		ranks[n] = append(ranks[n], rank)
	}
	return ranks
}

// probe is a question to a rank. A prompt answer shows that the rank is not held up.
type probe struct {
	id uint64
	at time.Time
}

// runEvent is an event that ranks, ascending, report alike.
type runEvent struct {
	ranks []int
	answer
}

// event passes an event to loop. The controller calls it.
func (r *run) event(ranks []int, e wire.Event, payload []byte) {
	if r.events.add(runEvent{ranks, answer{e, payload}}) {
		r.c.spawner.Woken()
	}
}

// give sends a line of standard input to ranks.
func (r *run) give(ranks []int, c wire.Input, text string) {
	c.Run = r.number
	r.c.tell(ranks, wire.Command{Input: &c}, []byte(text))
}

// loop handles events until every rank has finished or died.
func (r *run) loop(ctx context.Context) {
	ticker := time.NewTicker(fold.Tick)
	defer ticker.Stop()
	defer close(r.over)
	interrupt := ctx.Done()
	for {
		for list := r.events.take(r.left); list != nil; list = r.events.take(r.left) {
			for _, e := range list {
				r.handle(e)
			}
		}
		if r.left == 0 {
			return
		}
		if r.heard && !r.failedAt.IsZero() {
			r.heard = false
			r.releasePeers()
			r.note(r.watch.TellDeaths(r.snapshot(time.Now())))
		}
		r.reachLimit(time.Now())
		r.endAtLimit(time.Now())
		select {
		case <-r.events.some:
		case <-interrupt:
			interrupt = nil
			r.stopped(ctx)
		case order := <-r.orders:
			order()
		case now := <-ticker.C:
			r.tick(now)
		}
	}
}

// interrupt stops the cell on all ranks.
func (r *run) interrupt(why string) {
	r.interrupted = time.Now()
	if r.halt != nil {
		r.endStop(r.interrupted)
	}
	r.abort(r.running(), wire.Command{Cancel: r.number, Abort: why})
}

func (r *run) handle(e runEvent) {
	if e.Status != nil {
		r.watch.Looked(e.ranks, e.Status)
	}
	e.ranks = rankset.Filter(e.ranks, r.runs)
	switch {
	case len(e.ranks) == 0:
	case e.Done != nil && e.Done.Run == r.number && e.Done.Err != nil && e.Done.Err.Fatal:
		// The run ends on these ranks when their workers have died.
		for _, rank := range e.ranks {
			fatal := *e.Done.Err
			r.on[rank].fatal = &fatal
			r.kill(rank, "cannot go on: "+wire.FirstLine(fatal.Msg))
		}
	case e.Done != nil && e.Done.Run == r.number:
		for _, rank := range e.ranks {
			o := &r.on[rank]
			o.Tallies, o.Late, o.findings, o.sanitizing = e.Done.Tallies, e.Done.Late, e.Done.Findings, &e.Done.Sanitizing
		}
		result := &session.Result{Value: string(e.payload), HasValue: e.Done.HasValue, Err: e.Done.Err}
		if e.Done.Rich {
			var rich wire.RichValue
			json.Unmarshal(e.payload, &rich) // a value that cannot be decoded has no forms
			result.Value, result.Data, result.Metadata = rich.Text, rich.Data, rich.Metadata
		}
		r.done(e.ranks, result, false)
	case e.Died != nil:
		for _, rank := range e.ranks {
			if !r.on[rank].killed && !r.c.ends(e.Died) {
				r.on[rank].Died, r.hasDied = e.Died.Cause, true
			}
			r.done([]int{rank}, &session.Result{Err: r.deathError(rank, e.Died)}, true)
		}
	case e.Status != nil || e.Process != nil:
		r.watch.Answer(e.ranks, e.Status, e.Process, time.Now())
		r.heard = true
	case e.Stopped != nil:
		r.stood(e.ranks, e.Stopped)
	case e.Probe != 0:
		r.probeAnswered(e)
	}
}

// done records the result of ranks. If they died, the controller has already made them leave the
// hub.
func (r *run) done(ranks []int, result *session.Result, died bool) {
	if r.inVain != nil && result.Err != nil {
		r.explainInVain(result.Err)
	}
	for _, rank := range ranks {
		r.on[rank].Result, r.on[rank].DoneAt, r.on[rank].Stands = result, time.Now(), nil
	}
	r.updateStop(time.Now())
	r.left -= len(ranks)
	r.before.EndRanks(ranks, time.Now()) // on ranks without output no event has reported that the cell begins
	r.fold.EndRanks(ranks, time.Now())
	if result.Err != nil && r.failedAt.IsZero() {
		r.failedAt = time.Now()
	}
	if died || !r.interrupted.IsZero() || r.inVain != nil { // so that every rank reports that its waits were
		// ended, and not that another rank has left
		return
	}
	why := bootstrap.Finished
	if result.Err != nil {
		why = "failed: " + wire.FirstLine(result.Err.Msg)
	}
	for _, rank := range ranks {
		r.c.hub.Leave(rank, why)
	}
}

func (r *run) deathError(rank int, d *wire.Death) *session.Error {
	e := &session.Error{Kind: session.KindDied, Peer: -1, Msg: "the worker " + d.Cause, Hint: d.Next, Detail: d.Stderr}
	placeAt(e, r.cell, d.Offset-1)
	if d.Advice != "" {
		e.Msg += ": " + d.Advice
	}
	if d.Report != "" {
		e.Detail = "Go's report of it is in " + d.Report
	}
	if fatal := r.on[rank].fatal; fatal != nil {
		return fatal
	}
	if r.c.ends(d) && !r.on[rank].killed {
		return &session.Error{Kind: session.KindDied, Peer: -1, Msg: "the program " + d.Cause, Exited: true, Status: d.Status}
	}
	if r.on[rank].killed {
		e.Kind = session.KindInterrupted
		e.Msg = fmt.Sprintf("the worker did not stop within %v of the interrupt and was killed", r.c.config.KillAfter)
	}
	return e
}

// running lists the ranks that have not finished, ascending.
func (r *run) running() []int { return rankset.Filter(r.ranks, r.runs) }

// abort ends the waits of ranks. All ranks have to recover afterwards.
func (r *run) abort(ranks []int, c wire.Command) {
	for _, rank := range ranks {
		r.on[rank].Aborted, r.hasAborted = c.Abort, true
	}
	r.c.tell(ranks, c, nil)
}

// kill ends the worker that runs the cell, unless that worker has already died and been replaced.
func (r *run) kill(rank int, why string) {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	if r.c.ranks[rank].incarnation == r.on[rank].incarnation {
		r.c.killWorker(rank, why)
	}
}

// tick shows overdue output, kills ranks that do not stop, and runs the watchdog.
func (r *run) tick(now time.Time) {
	if !r.judging {
		r.judging = true
		r.c.tell(r.running(), wire.Command{Judge: true}, nil) // not when the cell begins: a short one should not pay for the look
	}
	r.before.Tick(now)
	r.probe(r.fold.Tick(now))
	if !r.interrupted.IsZero() && now.Sub(r.interrupted) >= r.c.config.KillAfter {
		r.insist(now)
	}
	r.updateStop(now)
	cell := r.snapshot(now)
	r.askNCCL(cell)
	for _, a := range r.watch.Look(cell) {
		r.carryOut(a)
	}
}

// snapshot returns a snapshot of the cell for the watchdog.
func (r *run) snapshot(now time.Time) *watchdog.Snapshot {
	c := r.c
	s := &watchdog.Snapshot{
		Now: now, Run: r.number, Title: r.cell.Title(), Stop: r.stop(), Again: r.cell.Again,
		Ranks: make([]watchdog.Rank, len(r.on)), Reachable: c.reachable(), Pending: c.hub.Pending(),
		Started: r.started, Shown: r.shownAt(), Interrupted: r.interrupted, LimitAt: r.limitAt, FailedAt: r.failedAt,
		HasDied: r.hasDied, Stands: r.halt != nil, KeepsWaits: c.config.Deadlock == session.DeadlockWait,
		Unattended: c.config.Program != nil && c.config.Program.Unattended,
	}
	for rank := range r.on {
		s.Ranks[rank] = r.on[rank].Rank
	}
	c.mu.Lock()
	c.questions++ // no other question gets the number, whether or not the watchdog uses it
	s.Question = c.questions
	c.mu.Unlock()
	return s
}

// carryOut does what the watchdog wants.
func (r *run) carryOut(a watchdog.Action) {
	switch a := a.(type) {
	case watchdog.Ask:
		r.c.tell(a.Ranks, wire.Command{Status: wire.WatchdogQuestion}, nil)
	case watchdog.Examine:
		r.c.tell(r.c.reachable(), wire.Command{Status: a.Question, Look: true}, nil)
	case watchdog.Say:
		r.note(a.Text)
	case watchdog.Show:
		if r.cell.InPlace || !a.Again {
			r.fold.Show(session.Output{Ranks: r.ranks, Stream: session.Note, Topic: "waits", Again: a.Again, Text: a.Text, Hang: a.Rows, Cycle: a.Cycle})
		}
	case watchdog.EndInVain:
		r.endInVain(a)
	}
}

// insist kills the ranks that an interrupt has not stopped. If the user can ask for the kill,
// insist only reports these ranks. A rank that the machine holds up may take longer: see HoldsUp.
func (r *run) insist(now time.Time) {
	if r.cell.Again != "" && r.limitAt.IsZero() && !r.isGone() {
		r.note(r.watch.Unstopped(r.snapshot(now)))
		return
	}
	if r.guest != nil && r.limitAt.IsZero() {
		r.tellUnstopped()
		return
	}
	for _, rank := range r.running() {
		if !r.on[rank].killed && !r.watch.HoldsUp(rank, now, r.interrupted, r.c.config.KillAfter) {
			r.on[rank].killed = true
			r.kill(rank, fmt.Sprintf("did not stop within %v and was killed", r.c.config.KillAfter))
		}
	}
}

// note shows a remark of the session, if there is one.
func (r *run) note(text string) {
	if text != "" {
		r.fold.Show(session.Output{Ranks: r.ranks, Stream: session.Note, Text: text})
	}
}

// shownAt returns the time at which output of the cell was last shown, or at which the cell began.
func (r *run) shownAt() time.Time {
	if last := time.Unix(0, r.shown.Load()); last.After(r.started) {
		return last
	}
	return r.started
}

// stop names the user's way to interrupt the cell.
func (r *run) stop() string { return cmp.Or(r.cell.Stop, "Ctrl-C") }

// probe asks ranks whether they are held up. Lines of other ranks wait for their output. A rank
// that has not answered the last probe is not asked again.
func (r *run) probe(ranks []int) {
	ranks = rankset.Filter(ranks, func(rank int) bool { return r.on[rank].probe == nil })
	if len(ranks) == 0 {
		return
	}
	r.c.mu.Lock()
	r.c.questions++
	p := &probe{r.c.questions, time.Now()}
	r.c.mu.Unlock()
	for _, rank := range ranks {
		r.on[rank].probe = p
	}
	r.c.tell(ranks, wire.Command{Probe: p.id}, nil)
}

// probeAnswered handles the answer to a probe. If the answer is late or says so, the rank is held
// up and will be asked again.
func (r *run) probeAnswered(e runEvent) {
	asked := rankset.Filter(e.ranks, func(rank int) bool { p := r.on[rank].probe; return p != nil && p.id == e.Probe })
	if len(asked) == 0 {
		return
	}
	at := r.on[asked[0]].probe.at
	for _, rank := range asked {
		r.on[rank].probe = nil
	}
	if time.Since(at) <= fold.Promptly && !e.HeldUp {
		r.fold.NoteAlive(asked, at)
	}
}

// releasePeers ends the waits that a failed rank will never satisfy: waits for the rank itself,
// waits without a known peer, and waits for ranks that are released for the same reason. If the
// rank failed because a wait of it reached its limit, waits that will soon reach their own limits
// are left alone: in a deadlock the error of each says more.
func (r *run) releasePeers() {
	if time.Since(r.failedAt) < watchdog.AbortGrace {
		return
	}
	cause, late := make([]string, len(r.on)), make([]bool, len(r.on))
	for _, rank := range r.ranks {
		o := &r.on[rank]
		switch {
		case o.Result == nil || o.Result.Err == nil:
		case o.Aborted != "": // the rank failed because another one did
			cause[rank] = o.Aborted
		case o.Result.Err.Kind == session.KindPeer:
			cause[rank] = wire.FirstLine(o.Result.Err.Msg)
		default:
			cause[rank] = fmt.Sprintf("rank %d failed: %s", rank, wire.FirstLine(o.Result.Err.Msg))
			late[rank] = o.Result.Err.Kind == session.KindTimeout
		}
	}
	released := map[string][]int{} // ranks by the cause
	running := r.running()
	for found := true; found; {
		found = false
		for _, rank := range running {
			if cause[rank] != "" {
				continue
			}
			if cause[rank] = r.causeFor(rank, cause, late); cause[rank] != "" {
				found = true
				if r.on[rank].Aborted == "" {
					released[cause[rank]] = append(released[cause[rank]], rank)
				}
			}
		}
	}
	for _, why := range sortedKeys(released) {
		slices.Sort(released[why])
		r.abort(released[why], wire.Command{Abort: why, Run: r.number})
	}
}

// causeFor returns the reason to end a wait of a rank, "" if there is none. cause and late describe
// its peers: see releasePeers.
func (r *run) causeFor(rank int, cause []string, late []bool) string {
	for _, w := range r.watch.Waits(rank, r.failedAt) {
		if w.Since < abortWait {
			continue
		}
		peers := w.Peers
		if len(peers) == 0 { // the wait may be for any of them
			peers = r.ranks
		}
		for _, peer := range peers {
			soon := late[peer] && w.Limit > 0 && w.Limit-w.Since <= abortSoon
			if cause[peer] != "" && !soon {
				return cause[peer]
			}
		}
	}
	return ""
}
