package run

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

const watchEvery = 5 * time.Millisecond

// limit limits what code of cells takes of one thing.
type limit interface {
	// begin is called before code of cells runs when none does, and may come while exceeded is called.
	begin()
	// exceeded describes what is exceeded when code of cells has to stop; what is "" otherwise.
	exceeded() (what, detail, hint string)
}

// watch looks at a limit while any code of cells runs, and stops all of it when it exceeds the limit: endless recursion would end the process, and a machine
// without memory any process. Each limit has a watch of its own, because one that collects garbage first may take long.
type watch struct {
	rt    *Runtime
	limit limit
	armed atomic.Bool
}

// LimitMemory replaces the machine's memory for the limit: available returns how many bytes the process may still take, and how many there are.
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
