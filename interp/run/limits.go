package run

import (
	"fmt"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/session"
)

// limit limits one resource that code of cells uses.
type limit interface {
	// begin is called when code of cells starts to run and none ran before. It may be called during
	// a call of exceeded.
	begin()
	// exceeded describes the exceeded limit if code of cells has to stop; otherwise the result what
	// is "".
	exceeded() (what, detail, hint string)
}

// watch checks a limit while any code of cells runs, as often as the process has used some processor time:
// without it no stack and no heap grows. If the limit is exceeded, it stops all of that code. Each limit has
// its own watch, because a check that collects garbage first may take long.
type watch struct {
	rt    *Runtime
	limit limit
	armed atomic.Bool
}

// LimitMemory replaces the function that measures the machine's memory: available returns how many
// bytes the process may still allocate, and how many there are in total.
func (rt *Runtime) LimitMemory(available func() (free, total uint64)) {
	rt.memory.limit.(*memoryLimit).available = available
}

// arm starts the checks, which go on while code of cells runs. First says that no code of cells ran
// before.
func (w *watch) arm(first bool) {
	if first {
		w.limit.begin()
	}
	if !w.armed.Swap(true) {
		clock.after(w.look)
	}
}

func (w *watch) look() {
	if w.rt.busy.Load() == 0 {
		w.armed.Store(false)
		if w.rt.busy.Load() > 0 { // code started just now
			w.arm(false)
		}
		return
	}
	if what, detail, hint := w.limit.exceeded(); what != "" {
		e := &session.Error{Kind: session.KindPanic, Peer: -1, Hint: hint}
		function := w.rt.host.Locate(e, w.rt.Position())
		e.Msg = fmt.Sprintf("%s in %s: %s", what, function, detail)
		w.rt.stopAll(e)
	}
	clock.after(w.look)
}
