package run

import (
	"time"

	"github.com/symmrepl/symmrepl/interp/run/stacks"
)

// LateGrace is the time that all deferred calls of an interrupted cell together may take.
const LateGrace = time.Second

// leave reports whether the function of d was stopped. If so, leave keeps d until interpreted code
// runs again, so that its deferred calls are made then. If the execution was abandoned, they are
// dropped.
func (rt *Runtime) leave(d *stacks.Defers) bool {
	if rt.Trees.Abandoned.Load() > 0 && rt.isAbandoned() {
		return true
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	select {
	case <-rt.ctx.Done():
		rt.late = append(rt.late, d)
		return true
	default:
		return false
	}
}

// takeLate returns the functions that were stopped before their deferred calls were made, the last
// called first, and forgets them.
func (rt *Runtime) takeLate() []*stacks.Defers {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	late := rt.late
	rt.late = nil
	return late
}
