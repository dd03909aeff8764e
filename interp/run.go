package interp

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

const (
	// selfEnd is how long an interrupted cell may take to end by itself, as a wait does that was aborted and says for whom it waited.
	selfEnd = 50 * time.Millisecond
	// grace is how long Eval waits for a stopped cell to leave; only a compiled call that blocks takes that long.
	grace = 2 * time.Second
)

// run is one execution of a cell.
type run struct {
	cell *compiled
	left chan struct{} // closed when the cell's statements have ended, however they do
	err  error         // what Execute returned, once left is closed

	stopped chan struct{}  // closed when the run was stopped
	group   sync.WaitGroup // the goroutines that the cell started

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
	r := &run{cell: c, left: make(chan struct{}), stopped: make(chan struct{}), fail: make(chan struct{})}
	in.runtime.begin(r)
	id := in.inside.prepare()
	go func() {
		defer close(r.left)
		_, r.err = in.yaegi.Execute(c.main)
	}()
	interrupted := false
	select {
	case <-r.left:
	case <-r.fail:
		in.stop(r)
	case <-ctx.Done():
		interrupted = true
		select {
		case <-r.left:
		case <-time.After(selfEnd):
			in.stop(r)
		}
	}
	if !in.join(r, id) {
		in.stuck = r
		return session.Result{Err: in.interruptedError(r, "a call into compiled code does not return; restart this rank")}
	}
	defer in.leave(c)
	return in.outcome(r, interrupted)
}

// install runs what the cell declares: nothing of the user's is evaluated here.
func (in *Interp) install(c *compiled) error {
	if c.decls == nil {
		return nil
	}
	if _, err := in.yaegi.Execute(c.decls); err != nil {
		return err
	}
	for _, again := range c.replace {
		if err := in.inside.replaceFunction(again); err != nil {
			return err
		}
	}
	return nil
}

// stop makes all interpreted code of a run end at its next step.
func (in *Interp) stop(r *run) {
	in.inside.stop()
	close(r.stopped)
}

// join waits for a run and, if it was stopped, for its goroutines; then it makes interpreted code run again. It reports whether all have left.
func (in *Interp) join(r *run, id uint64) bool {
	select {
	case <-r.stopped:
	default: // it ended by itself; its goroutines may go on
		return true
	}
	gone := make(chan struct{})
	go func() {
		<-r.left
		r.group.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		in.inside.resume(id)
		return true
	case <-time.After(grace):
		return false
	}
}

// outcome makes the result of a run that has ended.
func (in *Interp) outcome(r *run, interrupted bool) session.Result {
	r.mu.Lock()
	r.over = true
	failed := r.failed
	r.mu.Unlock()
	switch {
	case failed != nil:
		return session.Result{Err: failed}
	case interrupted:
		select {
		case <-r.stopped:
			return session.Result{Err: in.interruptedError(r, "")}
		default:
		}
		if r.err == nil { // it was done before it could be stopped
			return in.result(r.cell)
		}
		e := in.panicError(r.cell, r.err)
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

// goRun is the go statement. A panic of the goroutine is the error of the cell that started it, or a note once that is over.
func (rt *cellRuntime) goRun(f func()) {
	r := rt.current()
	r.group.Add(1)
	rt.busy.Add(1)
	go func() {
		defer r.group.Done()
		defer rt.busy.Add(-1)
		defer func() {
			if v := recover(); v != nil {
				rt.goroutinePanicked(r, v)
			}
		}()
		f()
	}()
}

func (rt *cellRuntime) goroutinePanicked(r *run, v any) {
	e := rt.in.errorOfPanic(v)
	e.Msg += " (in a goroutine)"
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.over:
		fmt.Fprintln(os.Stderr, e)
	case r.failed == nil:
		r.failed = e
		close(r.fail)
	}
}

// sleep is time.Sleep, ended early when the cell is stopped.
func (rt *cellRuntime) sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-rt.current().stopped:
	}
}

// await makes a call that may block for ever. It returns early when the cell is stopped; cancelled is then called if the call returns after all.
func (rt *cellRuntime) await(call, cancelled func()) {
	done := make(chan bool)
	stopped := rt.current().stopped
	go func() {
		call()
		select {
		case done <- true:
		case <-stopped:
			cancelled()
		}
	}()
	select {
	case <-done:
	case <-stopped:
	}
}

// lock is Lock of a mutex.
func (rt *cellRuntime) lock(m sync.Locker) {
	if t, ok := m.(interface{ TryLock() bool }); ok && t.TryLock() {
		return
	}
	rt.await(m.Lock, m.Unlock)
}

// rlock is RLock of a mutex.
func (rt *cellRuntime) rlock(m *sync.RWMutex) {
	if !m.TryRLock() {
		rt.await(m.RLock, m.RUnlock)
	}
}

// waitGo is Go of a wait group.
func (rt *cellRuntime) waitGo(g *sync.WaitGroup, f func()) {
	g.Add(1)
	rt.goRun(func() {
		defer g.Done()
		f()
	})
}

// wait is Wait of a wait group.
func (rt *cellRuntime) wait(g *sync.WaitGroup) { rt.await(g.Wait, func() {}) }
