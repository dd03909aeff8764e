package run

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petermattis/goid"
	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/session"
)

// execution is one execution of a cell's code.
type execution struct {
	cell *check.Cell
	left chan struct{} // closed when the cell's statements have ended, however they do
	err  error         // what they returned, once left is closed
	// exited says, once left is closed, that runtime.Goexit ended them.
	exited bool
	done   chan struct{} // closed when it is known how the execution ended
	alive  atomic.Int64  // goroutines that the cell started
	// goroutine is the number of the one that runs its statements, 0 before they begin.
	goroutine atomic.Int64
	ended     atomic.Bool // it was stopped: what it left to be done later is not done
	// ranAway is set when a limit stops it.
	ranAway atomic.Bool
	// abandoned is set when compiled calls of it do not return: see abandon.
	abandoned atomic.Bool

	mu     sync.Mutex
	failed *session.Error // of a goroutine that panicked
	fail   chan struct{}  // closed then
	over   bool
	// uncounted is set when what is left of an abandoned execution is not waited for any more; Running does not count it.
	uncounted bool
}

func newExecution(c *check.Cell) *execution {
	return &execution{cell: c, left: make(chan struct{}), done: make(chan struct{}), fail: make(chan struct{})}
}

// Ending says how the execution of a cell ended.
type Ending struct {
	Err         error          // what the code of the cell returned
	Failed      *session.Error // of a goroutine of the cell, or of a limit that was exceeded; it ended the cell
	Interrupted bool
	BySelf      bool   // the code ended without being stopped
	GoesOn      string // the compiled call that does not return, for which the execution was abandoned; "" if it has left
}

// Execute runs the code of a cell until it has ended, ctx ends, or a goroutine of the cell or a limit ends it. When it was stopped and does not leave because of
// compiled calls that do not return, it is abandoned. When it does not leave otherwise, stuck is the error of the cell, and Begin returns an error until it has left.
func (rt *Runtime) Execute(ctx context.Context, c *check.Cell, code func() error) (ending Ending, stuck *session.Error) {
	x := newExecution(c)
	defer close(x.done)
	rt.begin(x)
	go func() {
		defer close(x.left)
		defer rt.enter(x)()
		debug.SetPanicOnFault(true)
		x.goroutine.Store(goid.Get())
		x.exited = true
		x.err = code()
		x.exited = false
	}()
	ending.BySelf = true
	select {
	case <-x.left:
		if x.exited && rt.program {
			rt.awaitOthers(ctx, x)
		}
	case <-x.fail:
		ending.BySelf = false
	case <-ctx.Done():
		ending.Interrupted = true
		select {
		case <-x.left:
		case <-time.After(SelfEnd):
			ending.BySelf = false
		}
	}
	if ending.Interrupted || !ending.BySelf {
		left := rt.stopExecution(x, !ending.Interrupted)
		if late := rt.takeLate(); left && ending.Interrupted {
			left = rt.runLate(x, late)
		}
		if !left {
			return ending, rt.stuckError()
		}
		if x.ranAway.Load() {
			debug.FreeOSMemory()
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.over = true
	ending.Failed = x.failed
	if x.uncounted {
		ending.GoesOn = rt.callOf(x)
	}
	select {
	case <-x.left:
		ending.Err = x.err
	default:
	}
	return ending, nil
}

// awaitOthers waits for the other goroutines of a program, as Go does when runtime.Goexit has ended that of main. It is an error when none is left.
func (rt *Runtime) awaitOthers(ctx context.Context, x *execution) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for rt.Running() > 1 {
		select {
		case <-x.fail:
			return
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
	x.failWith(&session.Error{Kind: session.KindPanic, Peer: -1, Msg: "fatal error: no goroutines (main called runtime.Goexit) - deadlock!"})
}

// goRun is the go statement. A panic of the goroutine is the error of the cell that started it, or a note once that is over.
func (rt *Runtime) goRun(f func()) {
	x := rt.current()
	x.alive.Add(1)
	rt.started()
	go func() {
		defer rt.goroutineEnded(x)
		defer rt.enter(x)()
		defer rt.recoverTo(x)
		debug.SetPanicOnFault(true)
		f()
	}()
}

// goroutineEnded notes that a goroutine of x has ended.
func (rt *Runtime) goroutineEnded(x *execution) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.uncounted {
		rt.busy.Add(-1)
	}
	x.alive.Add(-1)
}

// recoverTo, deferred, makes the panic of a goroutine an error of x.
func (rt *Runtime) recoverTo(x *execution) {
	if v := recover(); v != nil && !x.abandoned.Load() {
		e := rt.host.PanicError(v)
		e.Msg += " (in a goroutine)"
		rt.report(x, e)
	}
}

// report makes e the error of an execution; if that is over, e is written.
func (rt *Runtime) report(x *execution, e *session.Error) {
	if !x.failWith(e) {
		fmt.Fprintln(os.Stderr, e)
	}
}

// failWith ends an execution with an error that is not of its own statements, the first of several. It returns false when the execution is over.
func (x *execution) failWith(e *session.Error) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over {
		return false
	}
	if x.failed == nil {
		x.failed = e
		close(x.fail)
	}
	return true
}

// afterFunc is time.AfterFunc; f runs as a goroutine of the cell does, but not once that was interrupted.
func (rt *Runtime) afterFunc(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, rt.later(f))
}

// contextAfterFunc is context.AfterFunc; f runs as a goroutine of the cell does, but not once that was interrupted.
func (rt *Runtime) contextAfterFunc(ctx context.Context, f func()) (stop func() bool) {
	return context.AfterFunc(ctx, rt.later(f))
}

// later returns what compiled code may call in place of f at a later time.
func (rt *Runtime) later(f func()) func() {
	rt.postponed.Add(1)
	x := rt.current()
	return func() {
		// It is a goroutine of the execution already while it looks: what stops that waits for it.
		x.alive.Add(1)
		defer x.alive.Add(-1)
		if !x.ended.Load() {
			rt.goRun(f)
		}
	}
}
