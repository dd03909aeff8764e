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
	cell  *check.Cell
	left  chan struct{} // closed when the cell's statements have ended, however they do
	err   error         // what they returned, once left is closed
	done  chan struct{} // closed when it is known how the execution ended
	alive atomic.Int64  // goroutines that the cell started
	// goroutine is the number of the one that runs its statements, 0 before they begin.
	goroutine atomic.Int64
	ended     atomic.Bool // it was stopped: what it left to be done later is not done
	// ranAway is set when a limit stops it.
	ranAway atomic.Bool

	mu     sync.Mutex
	failed *session.Error // of a goroutine that panicked
	fail   chan struct{}  // closed then
	over   bool
}

func newExecution(c *check.Cell) *execution {
	return &execution{cell: c, left: make(chan struct{}), done: make(chan struct{}), fail: make(chan struct{})}
}

// Ending says how the execution of a cell ended.
type Ending struct {
	Err         error          // what the code of the cell returned
	Failed      *session.Error // of a goroutine of the cell, or of a limit that was exceeded; it ended the cell
	Interrupted bool
	BySelf      bool // the code ended without being stopped
}

// Execute runs the code of a cell until it has ended, ctx ends, or a goroutine of the cell or a limit ends it. When it was stopped and does not leave, stuck is the
// error of the cell, and Begin returns an error until it has left.
func (rt *Runtime) Execute(ctx context.Context, c *check.Cell, code func() error) (ending Ending, stuck *session.Error) {
	x := newExecution(c)
	defer close(x.done)
	rt.begin(x)
	go func() {
		defer close(x.left)
		defer rt.enter()()
		x.goroutine.Store(goid.Get())
		x.err = code()
	}()
	ending.BySelf = true
	select {
	case <-x.left:
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
	ending.Err, ending.Failed = x.err, x.failed
	return ending, nil
}

// goRun is the go statement. A panic of the goroutine is the error of the cell that started it, or a note once that is over.
func (rt *Runtime) goRun(f func()) {
	x := rt.current()
	x.alive.Add(1)
	rt.started()
	go func() {
		defer x.alive.Add(-1)
		defer rt.busy.Add(-1)
		defer rt.enter()()
		defer rt.recoverTo(x)
		f()
	}()
}

// recoverTo, deferred, makes the panic of a goroutine an error of x.
func (rt *Runtime) recoverTo(x *execution) {
	if v := recover(); v != nil {
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
