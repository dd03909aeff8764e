package run

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

const watchEvery = 5 * time.Millisecond

// limit is something that code of cells may not take without end.
type limit interface {
	// begin is called before code of cells runs when none does, and may come while exceeded is called.
	begin()
	// exceeded says what is the matter when code of cells has to stop, else "".
	exceeded() (what, detail, hint string)
}

// watch looks at a limit while any code of cells runs, and stops all of it when that runs away: endless recursion ends a Go process, and a machine without
// memory ends whatever it likes. Each limit has a watch of its own, for one that has to collect garbage first may take long.
type watch struct {
	rt    *Runtime
	limit limit
	armed atomic.Bool
}

// LimitMemory has the runtime ask available how many bytes of memory there are to be had, and how many there are, in place of the machine.
func (rt *Runtime) LimitMemory(available func() (free, total uint64)) {
	rt.memory.limit.(*memoryLimit).available = available
}

// arm makes the watch look for as long as code of cells runs. The first that runs begins.
func (w *watch) arm(first bool) {
	if first {
		w.limit.begin()
	}
	if !w.armed.Swap(true) {
		time.AfterFunc(watchEvery, w.look)
	}
}

func (w *watch) look() {
	if w.rt.busy.Load() == 0 {
		w.armed.Store(false)
		if w.rt.busy.Load() > 0 { // since a moment ago
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
	time.AfterFunc(watchEvery, w.look)
}
