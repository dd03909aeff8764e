package interp

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// How long interrupted code is waited for. All but the first are measured as patience is.
const (
	// selfEnd is how long an interrupted cell may take to end by itself, as a wait does that was aborted.
	selfEnd = 50 * time.Millisecond
	// grace is how long Eval waits for a stopped cell to leave; only a compiled call that blocks takes that long.
	grace = 2 * time.Second
	// unwindGrace is the same for one that was stopped because of what it did: calls nested deep take time to return.
	unwindGrace = 5 * grace
	// othersGrace is how long it waits for the goroutines of earlier cells, if none of them unwinds. Those in a compiled call that blocks go on when it
	// returns.
	othersGrace = 30 * time.Millisecond
)

// run is one execution of a cell.
type run struct {
	cell  *compiled
	left  chan struct{} // closed when the cell's statements have ended, however they do
	err   error         // what Execute returned, once left is closed
	done  chan struct{} // closed when the cell's result is known
	alive atomic.Int64  // goroutines that the cell started
	ended atomic.Bool   // it was stopped: what it left to be done later is not done
	// ranAway says that it was stopped because of the memory that it took.
	ranAway atomic.Bool

	mu     sync.Mutex
	failed *session.Error // of a goroutine that panicked
	fail   chan struct{}  // closed then
	over   bool
}

// execute runs a compiled cell.
func (in *Interp) execute(ctx context.Context, c *compiled) session.Result {
	if err := in.install(c); err != nil {
		return session.Result{Err: c.errorAt(session.KindSystem, c.body.Pos(), err.Error())}
	}
	r := &run{cell: c, left: make(chan struct{}), done: make(chan struct{}), fail: make(chan struct{})}
	defer close(r.done)
	in.runtime.begin(r)
	go func() {
		defer close(r.left)
		defer in.runtime.enter()()
		_, r.err = in.yaegi.Execute(c.main)
	}()
	interrupted, bySelf := false, true
	select {
	case <-r.left:
	case <-r.fail:
		bySelf = false
	case <-ctx.Done():
		interrupted = true
		select {
		case <-r.left:
		case <-time.After(selfEnd):
			bySelf = false
		}
	}
	if interrupted || !bySelf {
		left := in.stop(r, !interrupted)
		if late := in.runtime.takeLate(); left && interrupted {
			left = in.runLate(r, late)
		}
		if !left {
			return session.Result{Err: in.stuckError()}
		}
		if r.ranAway.Load() {
			debug.FreeOSMemory()
		}
	}
	defer in.leave(c)
	return in.outcome(r, interrupted, bySelf)
}

// install runs what the cell declares: nothing of the user's is evaluated here.
func (in *Interp) install(c *compiled) error {
	if c.decls == nil {
		return nil
	}
	if _, err := in.yaegi.Execute(c.decls); err != nil {
		return err
	}
	if c.methods != nil {
		if _, err := in.yaegi.Execute(c.methods); err != nil {
			return err
		}
	}
	for _, again := range c.replace {
		if err := in.inside.replaceFunction(again); err != nil {
			return err
		}
	}
	return nil
}

// stopped is a run that was stopped and has not left yet.
type stopped struct {
	run    *run
	resume []func() // make interpreted code run again
}

// stop makes all interpreted code end, that of a run and of the goroutines that it or earlier cells started, and reports whether the run has left in time.
// If not, no cell can run until it has. Code that unwinds was stopped because of what it did.
func (in *Interp) stop(r *run, unwinds bool) bool {
	r.ended.Store(true)
	// Waits end first, and begin again last: a function that ends because its code does has to see that its deferred calls are made later.
	begin := in.runtime.stop()
	in.stopped = &stopped{r, []func(){in.inside.stop(), begin}}
	return in.join(unwinds)
}

// stopLeft does it for the goroutines that cells left running, when no cell runs. Their deferred calls are not made.
func (in *Interp) stopLeft() {
	if in.stopped != nil {
		return
	}
	in.runtime.busy.Add(1) // as a cell does
	defer in.runtime.busy.Add(-1)
	r := &run{cell: in.runtime.current().cell, left: make(chan struct{})}
	close(r.left)
	in.stop(r, true)
	in.runtime.takeLate()
}

// join waits for the run that was stopped to leave, and then makes interpreted code run again.
func (in *Interp) join(unwinds bool) bool {
	s, p, others := in.stopped, newPatience(grace), newPatience(othersGrace)
	if unwinds {
		p = newPatience(unwindGrace)
	}
	for ; !p.over(); time.Sleep(time.Millisecond) {
		waited := others.over() && !(unwinds && othersCanRun())
		select {
		case <-s.run.left:
		default:
			continue
		}
		if s.run.alive.Load() == 0 && (in.runtime.busy.Load() <= 1 || waited) {
			for _, resume := range s.resume {
				resume()
			}
			in.stopped = nil
			return true
		}
	}
	return false
}

// outcome makes the result of a run that has ended.
func (in *Interp) outcome(r *run, interrupted, bySelf bool) session.Result {
	r.mu.Lock()
	r.over = true
	failed := r.failed
	r.mu.Unlock()
	switch {
	case failed != nil:
		return session.Result{Err: failed}
	case interrupted:
		if r.err == nil && bySelf { // it was done before it could be stopped
			return in.result(r.cell)
		}
		var e *session.Error
		if r.err != nil {
			e = in.panicError(r.cell, r.err)
		}
		if !bySelf && (e == nil || e.Kind != session.KindInterrupted) { // no wait that says for whom it waited
			return session.Result{Err: in.interruptedError(r, "")}
		}
		e.Kind = session.KindInterrupted
		return session.Result{Err: e}
	case r.err != nil:
		return session.Result{Err: in.panicError(r.cell, r.err)}
	}
	return in.result(r.cell)
}

// interruptedError says where the run was when it was interrupted, if that is known: the last mark may be that of a function of another
// cell which returned long ago.
func (in *Interp) interruptedError(r *run, hint string) *session.Error {
	e := &session.Error{Kind: session.KindInterrupted, Peer: -1, Msg: "interrupted", Hint: hint}
	r.cell.place(e, in.runtime.position())
	return e
}

// stuckError is the error of a cell that could not be stopped, and of those after it until it has left.
func (in *Interp) stuckError() *session.Error {
	r := in.stopped.run
	r.mu.Lock()
	defer r.mu.Unlock()
	const hint = "a call into compiled code does not return; enter a cell to see whether it has, or restart this rank"
	if r.failed == nil {
		return in.interruptedError(r, hint)
	}
	e := *r.failed
	e.Hint = hint
	return &e
}

// goRun is the go statement. A panic of the goroutine is the error of the cell that started it, or a note once that is over.
func (rt *cellRuntime) goRun(f func()) {
	r := rt.current()
	r.alive.Add(1)
	rt.started()
	go func() {
		defer r.alive.Add(-1)
		defer rt.busy.Add(-1)
		defer rt.enter()()
		defer rt.recoverTo(r)
		f()
	}()
}

// recoverTo, deferred, makes the panic of a goroutine an error of r.
func (rt *cellRuntime) recoverTo(r *run) {
	if v := recover(); v != nil {
		e := rt.in.errorOfPanic(v)
		e.Msg += " (in a goroutine)"
		rt.report(r, e)
	}
}

// report makes e the error of a run; if that is over, e is written.
func (rt *cellRuntime) report(r *run, e *session.Error) {
	if !r.failWith(e) {
		fmt.Fprintln(os.Stderr, e)
	}
}

// failWith ends a run with an error that is not of its own statements, the first of several. It returns false when the run is over.
func (r *run) failWith(e *session.Error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over && r.failed == nil {
		r.failed = e
		close(r.fail)
	}
	return !r.over
}
