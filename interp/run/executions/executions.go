package executions

import (
	"context"
	"fmt"
	"os"
	"runtime"
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
	left chan struct{} // closed when the cell's statements have ended in any way
	err  error         // the result of the statements, valid once left is closed
	// exited reports, once left is closed, whether runtime.Goexit ended the statements.
	exited bool
	done   chan struct{} // closed when it is known how the execution ended
	alive  atomic.Int64  // goroutines that the cell started
	// goroutine is the number of the goroutine that runs the cell's statements, 0 before they
	// begin.
	goroutine atomic.Int64
	// it was stopped: functions that it gave to time.AfterFunc and the like do not run
	ended atomic.Bool
	// ranAway is set when a limit stops the execution.
	ranAway atomic.Bool
	// abandoned is set when compiled calls of the execution do not return: see abandon.
	abandoned atomic.Bool

	mu     sync.Mutex
	failed *session.Error // the error of a goroutine that panicked, or of a limit
	fail   chan struct{}  // closed when failed is set
	over   bool
	// uncounted is set when nothing waits any more for the goroutines of an abandoned execution;
	// Running does not count them then.
	uncounted bool
}

func newExecution(c *check.Cell) *execution {
	return &execution{cell: c, left: make(chan struct{}), done: make(chan struct{}), fail: make(chan struct{})}
}

// Ending is the end of a cell's execution.
type Ending struct {
	Err error // the error that the code of the cell returned
	// the error of a goroutine of the cell, or of an exceeded limit, that ended the cell
	Failed      *session.Error
	Interrupted bool
	BySelf      bool // the code ended without being stopped
	// the compiled call that does not return, because of which the execution was abandoned; "" if
	// it was not
	GoesOn string
}

// Execute runs the code of a cell until the code ends, ctx ends, or a goroutine of the cell or a
// limit ends the cell. If the cell was stopped but compiled calls do not return, Execute abandons
// it. If the cell cannot be abandoned either, stuck is its error, and Begin returns an error until
// the cell has ended.
//
// Brief code surely ends soon, and ends by itself: Execute runs it without another goroutine, for
// which Go would wake a thread.
func (es *Executions) Execute(ctx context.Context, c *check.Cell, brief bool, code func() error) (ending Ending, stuck *session.Error) {
	x := newExecution(c)
	defer close(x.done)
	es.begin(x)
	defer es.Stops.Forget()
	if brief {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		es.runStatements(x, code)
	} else {
		go func() {
			growStack()
			debug.SetPanicOnFault(true)
			es.runStatements(x, code)
		}()
	}
	ending.BySelf = true
	select {
	case <-x.left:
		if x.exited && es.program {
			es.awaitOthers(ctx, x)
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
		left := es.stopExecution(x, !ending.Interrupted)
		if late := es.takeLate(); left && ending.Interrupted {
			left = es.runLate(x, late)
		}
		if !left {
			return ending, es.stuckError()
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
		ending.GoesOn = es.callOf(x)
	}
	select {
	case <-x.left:
		ending.Err = x.err
	default:
	}
	return ending, nil
}

// runStatements runs the statements of an execution.
func (es *Executions) runStatements(x *execution, code func() error) {
	defer close(x.left)
	defer es.enter(x)()
	x.goroutine.Store(goid.Get())
	x.exited = true
	x.err = code()
	x.exited = false
}

// growStack makes the calling goroutine's stack as large as most cells need, at once: Go would
// double it three times, and copy more each time.
//
//go:noinline
func growStack() {
	var room [9 << 10]byte
	runtime.KeepAlive(&room)
}

// awaitOthers waits for the other goroutines of a program, as Go does when runtime.Goexit has ended
// the main goroutine. When none remains, that is an error.
func (es *Executions) awaitOthers(ctx context.Context, x *execution) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for es.Running() > 1 {
		select {
		case <-x.fail:
			return
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
	x.failWith(&session.Error{Kind: session.KindPanic, Peer: -1,
		Msg: "fatal error: no goroutines (main called runtime.Goexit) - deadlock!"})
}

// Go is the go statement. A panic of the goroutine becomes the error of the cell that started
// it. If the cell is over, the error is only written.
func (es *Executions) Go(f func()) {
	x := es.current()
	x.alive.Add(1)
	es.started()
	go func() {
		defer es.goroutineEnded(x)
		defer es.enter(x)()
		defer es.recoverTo(x)
		debug.SetPanicOnFault(true)
		f()
	}()
}

// Evaluating runs f on a new goroutine, as code of the running cell that never stands, and returns
// when f has ended. Positions and values that f shows do not replace the cell's.
func (es *Executions) Evaluating(f func()) {
	x := es.current()
	x.alive.Add(1)
	es.started()
	mark, call := *es.Stacks.Mark, *es.Stacks.CallMark
	defer es.Shown.SetAside()()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer es.goroutineEnded(x)
		defer es.enter(x)()
		defer es.Stops.Pass()()
		f()
	}()
	<-done
	*es.Stacks.Mark, *es.Stacks.CallMark = mark, call
}

// goroutineEnded notes that a goroutine of x has ended.
func (es *Executions) goroutineEnded(x *execution) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.uncounted {
		es.busy.Add(-1)
	}
	x.alive.Add(-1)
}

// recoverTo, when deferred, turns the panic of a goroutine into an error of x.
func (es *Executions) recoverTo(x *execution) {
	if v := recover(); v != nil && !x.abandoned.Load() {
		e := es.host.PanicError(v)
		e.Msg += " (in a goroutine)"
		es.report(x, e)
	}
}

// report makes e the error of an execution. If the execution is over, it writes e instead.
func (es *Executions) report(x *execution, e *session.Error) {
	if !x.failWith(e) {
		fmt.Fprintln(os.Stderr, e)
	}
}

// failWith ends an execution with an error from outside its own statements. If there are several
// errors, the first counts. It returns false if the execution is over.
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

// AfterFunc is time.AfterFunc. It runs f like a goroutine of the cell, unless the cell was
// interrupted before.
func (es *Executions) AfterFunc(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, es.later(f))
}

// ContextAfterFunc is context.AfterFunc. It runs f like a goroutine of the cell, unless the cell
// was interrupted before.
func (es *Executions) ContextAfterFunc(ctx context.Context, f func()) (stop func() bool) {
	return context.AfterFunc(ctx, es.later(f))
}

// later returns the function that compiled code gets in place of f, to call later.
func (es *Executions) later(f func()) func() {
	es.postponed.Add(1)
	x := es.current()
	return func() {
		// It counts as a goroutine of the execution even while it checks ended, so that stopping
		// the execution waits for it.
		x.alive.Add(1)
		defer x.alive.Add(-1)
		if !x.ended.Load() {
			es.Go(f)
		}
	}
}
