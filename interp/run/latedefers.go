package run

import "time"

// LateGrace is how long the deferred calls of an interrupted cell may take together.
const LateGrace = time.Second

// leave reports whether the function of d was stopped. If so, its deferred calls are kept for when interpreted code runs again, unless the execution was abandoned.
func (rt *Runtime) leave(d *defers) bool {
	if rt.abandoned.Load() > 0 && rt.isAbandoned() {
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

// takeLate returns the functions that were stopped before their deferred calls, those that were called last first, and forgets them.
func (rt *Runtime) takeLate() []*defers {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	late := rt.late
	rt.late = nil
	return late
}
