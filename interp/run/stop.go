package run

import (
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/session"
)

// How long interrupted code is waited for. All but the first are measured as a Deadline is.
const (
	// SelfEnd is how long an interrupted cell may take to end by itself, as a wait does that is aborted.
	SelfEnd = 50 * time.Millisecond
	// grace is how long Execute waits for a stopped cell to leave; only a call that holds the device takes that long.
	grace = 2 * time.Second
	// unwindGrace is the same for a cell that a limit or a panic stopped: deeply nested calls take time to return.
	unwindGrace = 5 * grace
	// othersGrace is how long it waits for the goroutines of earlier cells, if none of them unwinds. Those in a compiled call that blocks go on when it
	// returns.
	othersGrace = 30 * time.Millisecond
)

// stopped is an execution that was stopped and has not left yet.
type stopped struct {
	execution *execution
	resume    []func() // make interpreted code run again
}

// Begin waits for its turn to run a cell, of which there is one at a time, and holds it until end is called. It returns an error while a cell that was stopped
// has not left.
func (rt *Runtime) Begin() (end func(), err *session.Error) {
	rt.turn.Lock()
	if rt.stopped != nil && !rt.join(false) {
		defer rt.turn.Unlock()
		return nil, rt.stuckError()
	}
	rt.abandoned.Store(int64(len(rt.Calls())))
	rt.started()
	rt.stdin.begin()
	return func() {
		rt.busy.Add(-1)
		rt.turn.Unlock()
	}, nil
}

// Busy reports whether any code of cells runs.
func (rt *Runtime) Busy() bool { return rt.Running() > 0 }

// Running returns how many cells and goroutines of cells run.
func (rt *Runtime) Running() int { return int(rt.busy.Load()) }

// Close ends what cells have left running. It frees what the process keeps for the session, unless a compiled call blocks some of it, which goes on to use
// that.
func (rt *Runtime) Close() {
	rt.turn.Lock()
	defer rt.turn.Unlock()
	if rt.Busy() {
		rt.stopLeft()
	}
	if !rt.Busy() && len(rt.Calls()) == 0 {
		rt.natives.release()
	}
}

// stopExecution makes all interpreted code end, that of an execution and of the goroutines that it or earlier cells started, and reports whether the execution has
// left in time. If not, no cell can run until it has. Unwinds says that a limit or a panic is the reason.
func (rt *Runtime) stopExecution(x *execution, unwinds bool) bool {
	x.ended.Store(true)
	halted := make(chan struct{})
	rt.halting.Store(&halted)
	rt.abandoned.Add(1)
	// Waits end first, and begin again last: a function that ends because its code does has to see that its deferred calls are made later. What follows a wait
	// in the code does not run meanwhile: see leaveAbandoned.
	begin := rt.stopWaits()
	rt.stopped = &stopped{x, []func(){rt.yaegi.Stop(), begin}}
	rt.abandoned.Add(-1)
	close(halted)
	return rt.join(unwinds)
}

// stopLeft stops the goroutines that cells left running, when no cell runs. Their deferred calls are not made.
func (rt *Runtime) stopLeft() {
	if rt.stopped != nil {
		return
	}
	rt.busy.Add(1) // as a cell does
	defer rt.busy.Add(-1)
	x := newExecution(rt.current().cell)
	close(x.left)
	rt.stopExecution(x, true)
	rt.takeLate()
}

// join waits for the execution that was stopped to leave, or abandons it, and then makes interpreted code run again.
func (rt *Runtime) join(unwinds bool) bool {
	s, p, others := rt.stopped, NewDeadline(grace), NewDeadline(othersGrace)
	if unwinds {
		p = NewDeadline(unwindGrace)
	}
	patient := NewDeadline(abandonAfter)
	for ; !p.over(); time.Sleep(time.Millisecond) {
		waited := others.over() && !(unwinds && othersCanRun())
		gone := false
		select {
		case <-s.execution.left:
			gone = s.execution.alive.Load() == 0
		default:
		}
		due := patient.over()
		if gone && (rt.busy.Load() <= 1 || waited) || due && !gone && rt.abandon(s.execution) {
			for _, resume := range s.resume {
				resume()
			}
			rt.stopped = nil
			return true
		}
		if due {
			patient = NewDeadline(abandonEvery)
		}
	}
	return false
}

// InterruptedError says where a cell was when it was interrupted, if that is known: the last position may be that of a function of another cell which
// returned long ago.
func (rt *Runtime) InterruptedError(text *check.Text, hint string) *session.Error {
	e := &session.Error{Kind: session.KindInterrupted, Peer: -1, Msg: "interrupted", Hint: hint}
	text.Place(e, rt.Position())
	return e
}

// stuckError is the error of a cell that could not be stopped, and of those after it until it has left.
func (rt *Runtime) stuckError() *session.Error {
	x := rt.stopped.execution
	x.mu.Lock()
	defer x.mu.Unlock()
	const hint = "a call into compiled code does not return; enter a cell to see whether it has, or restart this rank"
	if x.failed == nil {
		return rt.InterruptedError(x.cell.Text, hint)
	}
	e := *x.failed
	e.Hint = hint
	return &e
}

// runLate makes the deferred calls of functions that were stopped, for as long as they may take, and reports whether they have left.
func (rt *Runtime) runLate(x *execution, late []*defers) bool {
	if len(late) == 0 {
		return true
	}
	again := newExecution(x.cell)
	go func() {
		defer close(again.left)
		defer rt.enter(again)()
		for _, d := range late {
			d.runAll()
		}
	}()
	if NewDeadline(LateGrace).Wait(again.left) {
		return true
	}
	defer rt.takeLate()
	return rt.stopExecution(again, false)
}

// stopAll ends the cell that runs with an error, and returns when it has ended. When none does, it ends the goroutines of earlier cells, and the error is only
// written. What they took is given back before another cell runs, which would be stopped for it.
func (rt *Runtime) stopAll(e *session.Error) {
	x := rt.current()
	if rt.turn.TryLock() {
		defer rt.turn.Unlock()
		if rt.Busy() { // still
			fmt.Fprintln(os.Stderr, e)
			rt.stopLeft()
			debug.FreeOSMemory()
		}
		return
	}
	if x == nil { // the first cell is being checked
		return
	}
	x.ranAway.Store(true)
	if x.failWith(e) {
		<-x.done
	}
}
