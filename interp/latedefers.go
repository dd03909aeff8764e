package interp

import "time"

// lateGrace is how long the deferred calls of an interrupted cell may take together.
const lateGrace = time.Second

// leave reports whether the function of d was stopped. If so, its deferred calls are kept for when interpreted code runs again.
func (rt *cellRuntime) leave(d *defers) bool {
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
func (rt *cellRuntime) takeLate() []*defers {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	late := rt.late
	rt.late = nil
	return late
}

// runLate makes the deferred calls of functions that were stopped, for as long as they may take, and reports whether they have left.
func (in *Interp) runLate(r *run, late []*defers) bool {
	if len(late) == 0 {
		return true
	}
	again := &run{cell: r.cell, left: make(chan struct{})}
	go func() {
		defer close(again.left)
		defer in.runtime.enter()()
		for _, d := range late {
			d.runAll()
		}
	}()
	if newPatience(lateGrace).wait(again.left) {
		return true
	}
	defer in.runtime.takeLate()
	return in.stop(again, false)
}
