package executions

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/petermattis/goid"
	"github.com/symmrepl/symmrepl/session"
)

const (
	// abandonAfter is the time that the compiled calls of a stopped cell may take to return before
	// the cell is abandoned. It is measured as a limits.Deadline.
	abandonAfter = 300 * time.Millisecond
	// abandonEvery is the time between two attempts.
	abandonEvery = 50 * time.Millisecond
)

// heldPrefix is the prefix of functions that are never abandoned: they hold locks and streams of
// the device, and end when the device's waits are aborted.
const heldPrefix = "github.com/symmrepl/symmrepl/symmem."

// Call is a compiled call of an abandoned cell that has not returned.
type Call struct {
	Function  string // "net.(*TCPListener).Accept"
	Cell      string // the name of the cell that made it: "cell[7]"
	At        string // the line of the call: "cell[7]:3"; "" if it is unknown
	goroutine int64
}

// abandon gives up an execution that was stopped, if all its remaining goroutines are in compiled
// calls. These calls go on; when one returns, or calls a function of a cell, its goroutine ends.
// Abandon returns false if interpreted code of the execution still runs, or a call must not be
// abandoned.
func (es *Executions) abandon(x *execution) bool {
	if _, held := es.callsOf(x); held {
		return false
	}
	// From now on a goroutine whose call returns ends, even if the execution is not abandoned after
	// all.
	if !x.abandoned.Swap(true) {
		es.Trees.Abandoned.Add(1)
	}
	calls, held := es.callsOf(x)
	if held || len(calls) == 0 || slices.ContainsFunc(calls, func(c Call) bool { return c.Function == "" }) {
		return false
	}
	x.mu.Lock()
	x.over = true
	x.uncounted = true
	es.busy.Add(-x.alive.Load())
	x.mu.Unlock()
	es.mu.Lock()
	defer es.mu.Unlock()
	es.calls = append(es.calls, calls...)
	return true
}

// callsOf returns the compiled calls that the goroutines of an execution are in; Function is empty
// for a goroutine in interpreted code. Held reports whether one of the calls must not be abandoned.
func (es *Executions) callsOf(x *execution) (calls []Call, held bool) {
	stacks := allStacks()
	var at session.Error
	es.host.Locate(&at, es.Position())
	es.own.Range(func(id, of any) bool {
		if of != x {
			return true
		}
		stack, found := stackOf(stacks, id.(int64))
		if !found {
			return true
		}
		held = held || strings.Contains(stack, "\n"+heldPrefix)
		c := Call{Function: compiledCall(stack), Cell: x.cell.Name, goroutine: id.(int64)}
		if c.goroutine == x.goroutine.Load() && at.File != "" {
			c.At = fmt.Sprintf("%s:%d", at.File, at.Line)
		}
		calls = append(calls, c)
		return true
	})
	return calls, held
}

// callOf returns a compiled call that an abandoned execution is in.
func (es *Executions) callOf(x *execution) string {
	for _, c := range es.Calls() {
		if of, _ := es.own.Load(c.goroutine); of == x {
			return c.Function
		}
	}
	return ""
}

// leaveAbandoned ends the calling goroutine if its execution was abandoned. While an execution is
// being stopped, leaveAbandoned first waits until all interpreted code has stopped.
func (es *Executions) leaveAbandoned() {
	if es.Trees.Abandoned.Load() == 0 {
		return
	}
	if halted := es.halting.Load(); halted != nil {
		<-*halted
	}
	if es.isAbandoned() {
		runtime.Goexit()
	}
}

// isAbandoned reports whether the calling goroutine belongs to an execution that was abandoned.
func (es *Executions) isAbandoned() bool {
	x, own := es.own.Load(goid.Get())
	return own && x.(*execution).abandoned.Load()
}

// Calls returns the compiled calls of abandoned cells that have not returned. It may be called at any time.
func (es *Executions) Calls() []Call {
	es.mu.Lock()
	defer es.mu.Unlock()
	es.calls = slices.DeleteFunc(es.calls, func(c Call) bool {
		_, runs := es.own.Load(c.goroutine)
		return !runs
	})
	return slices.Clone(es.calls)
}
