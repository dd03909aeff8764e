package executions

import (
	"time"

	"github.com/symmrepl/symmrepl/interp/run/stacks"
)

// LateGrace is the time that all deferred calls of an interrupted cell together may take.
const LateGrace = time.Second

// leave reports whether the function of d was stopped. If so, leave keeps d until interpreted code
// runs again, so that its deferred calls are made then. If the execution was abandoned, they are
// dropped.
func (es *Executions) leave(d *stacks.Defers) bool {
	if es.Trees.Abandoned.Load() > 0 && es.isAbandoned() {
		return true
	}
	es.mu.Lock()
	defer es.mu.Unlock()
	select {
	case <-es.ctx.Done():
		es.late = append(es.late, d)
		return true
	default:
		return false
	}
}

// takeLate returns the functions that were stopped before their deferred calls were made, the last
// called first, and forgets them.
func (es *Executions) takeLate() []*stacks.Defers {
	es.mu.Lock()
	defer es.mu.Unlock()
	late := es.late
	es.late = nil
	return late
}
