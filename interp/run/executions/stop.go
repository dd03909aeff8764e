package executions

import (
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/run/limits"
	"github.com/symmrepl/symmrepl/interp/run/stacks"
	"github.com/symmrepl/symmrepl/session"
)

// How long the runtime waits for interrupted code. All but the first are measured as a limits.Deadline.
const (
	// SelfEnd is the time that an interrupted cell may take to end by itself, as a wait does when
	// it is aborted.
	SelfEnd = 50 * time.Millisecond
	// grace is the time for which Execute waits for a stopped cell to end; only a call that holds
	// the device takes that long.
	grace = 2 * time.Second
	// unwindGrace is grace for a cell that a limit or a panic stopped: deeply nested calls take
	// time to return.
	unwindGrace = 5 * grace
	// othersGrace is the time for which Execute waits for the goroutines of earlier cells if none
	// of them unwinds. A goroutine in a blocking compiled call may go on when the call returns.
	othersGrace = 30 * time.Millisecond
)

// stopped is an execution that was stopped and has not ended yet.
type stopped struct {
	execution *execution
	resume    []func() // functions that let interpreted code run again
}

// Begin waits for its turn to run a cell, and holds the turn until end is called; only one cell
// runs at a time. It returns an error while a cell that was stopped has not ended.
func (es *Executions) Begin() (end func(), err *session.Error) {
	es.turn.Lock()
	if es.stopped != nil && !es.join(false) {
		defer es.turn.Unlock()
		return nil, es.stuckError()
	}
	es.Trees.Abandoned.Store(int64(len(es.Calls())))
	es.started()
	es.stdin.begin()
	return func() {
		es.busy.Add(-1)
		es.turn.Unlock()
	}, nil
}

// Busy reports whether any code of cells runs.
func (es *Executions) Busy() bool { return es.Running() > 0 }

// Running returns the number of cells and goroutines of cells that run.
func (es *Executions) Running() int { return int(es.busy.Load()) }

// Close ends the code that cells have left running. It frees the memory that the process keeps for
// the session, unless compiled calls still use some of it.
func (es *Executions) Close() {
	es.turn.Lock()
	defer es.turn.Unlock()
	if es.Busy() {
		es.stopLeft()
	}
	if !es.Busy() && len(es.Calls()) == 0 {
		es.Natives.Free()
	}
}

// stopExecution stops all interpreted code: the code of an execution, and of the goroutines that it
// or earlier cells started. It reports whether the execution ended in time. If not, no cell can run
// until it has. Unwinds says that a limit or a panic is the reason.
func (es *Executions) stopExecution(x *execution, unwinds bool) bool {
	x.ended.Store(true)
	es.Stops.Halt(true)
	halted := make(chan struct{})
	es.halting.Store(&halted)
	es.Trees.Abandoned.Add(1)
	// Waits end first and are permitted again last, because a function that ends while code is
	// being stopped must see that its deferred calls are made later. Code after an ended wait does
	// not run meanwhile: see leaveAbandoned.
	begin := es.stopWaits()
	es.stopped = &stopped{x, []func(){es.yaegi.Stop(), begin}}
	es.Trees.Abandoned.Add(-1)
	close(halted)
	return es.join(unwinds)
}

// stopLeft stops the goroutines that cells left running. It is called when no cell runs. Their
// deferred calls are not made.
func (es *Executions) stopLeft() {
	if es.stopped != nil {
		return
	}
	es.busy.Add(1) // as for a running cell
	defer es.busy.Add(-1)
	x := newExecution(es.current().cell)
	close(x.left)
	es.stopExecution(x, true)
	es.takeLate()
}

// join waits until the stopped execution has ended, or abandons it, and then lets interpreted code
// run again.
func (es *Executions) join(unwinds bool) bool {
	s, p, others := es.stopped, limits.NewDeadline(grace), limits.NewDeadline(othersGrace)
	if unwinds {
		p = limits.NewDeadline(unwindGrace)
	}
	patient := limits.NewDeadline(abandonAfter)
	for ; !p.Over(); time.Sleep(time.Millisecond) {
		waited := others.Over() && !(unwinds && limits.OthersCanRun())
		gone := false
		select {
		case <-s.execution.left:
			gone = s.execution.alive.Load() == 0
		default:
		}
		due := patient.Over()
		if gone && (es.busy.Load() <= 1 || waited) || due && !gone && es.abandon(s.execution) {
			for _, resume := range s.resume {
				resume()
			}
			es.stopped = nil
			return true
		}
		if due {
			patient = limits.NewDeadline(abandonEvery)
		}
	}
	return false
}

// InterruptedError returns the error of an interrupted cell, with the place where it was if that is
// known: the last position may be in a function of another cell that returned long ago.
func (es *Executions) InterruptedError(text *check.Text, hint string) *session.Error {
	e := &session.Error{Kind: session.KindInterrupted, Peer: -1, Msg: "interrupted", Hint: hint}
	text.Place(e, es.Position())
	return e
}

// stuckError returns the error of a cell that could not be stopped. Cells after it also get this
// error until it has ended.
func (es *Executions) stuckError() *session.Error {
	x := es.stopped.execution
	x.mu.Lock()
	defer x.mu.Unlock()
	const hint = "a call into compiled code does not return; enter a cell to see whether it has, or restart this rank"
	if x.failed == nil {
		return es.InterruptedError(x.cell.Text, hint)
	}
	e := *x.failed
	e.Hint = hint
	return &e
}

// runLate makes the deferred calls of functions that were stopped, for at most LateGrace, and
// reports whether they have ended.
func (es *Executions) runLate(x *execution, late []*stacks.Defers) bool {
	if len(late) == 0 {
		return true
	}
	again := newExecution(x.cell)
	go func() {
		defer close(again.left)
		defer es.enter(again)()
		for _, d := range late {
			d.RunAll()
		}
	}()
	if limits.NewDeadline(LateGrace).Wait(again.left) {
		return true
	}
	defer es.takeLate()
	return es.stopExecution(again, false)
}

// exceeded stops all code of cells because a limit is exceeded.
func (es *Executions) exceeded(what, detail, hint string) {
	e := &session.Error{Kind: session.KindPanic, Peer: -1, Hint: hint}
	function := es.host.Locate(e, es.Position())
	e.Msg = fmt.Sprintf("%s in %s: %s", what, function, detail)
	es.stopAll(e)
}

// stopAll ends the running cell with an error, and returns when the cell has ended. If no cell
// runs, it ends the goroutines of earlier cells and only writes the error; it then returns their
// memory to the system, because the next cell would otherwise exceed the limit.
func (es *Executions) stopAll(e *session.Error) {
	x := es.current()
	if es.turn.TryLock() {
		defer es.turn.Unlock()
		if es.Busy() { // not if they have ended meanwhile
			fmt.Fprintln(os.Stderr, e)
			es.stopLeft()
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
