package supervisor

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/symmrepl/symmrepl/internal/procfs"
	"github.com/symmrepl/symmrepl/session/inherit"
)

// clearAfter cleans up after a dead worker: it kills the processes that its cells had put into
// sessions of their own, and removes its sockets.
func clearAfter(spec inherit.Spec, pid int) {
	for _, left := range processes.marked()[spec.Mark()] {
		if left != pid {
			syscall.Kill(left, syscall.SIGKILL)
		}
	}
	sockets, _ := filepath.Glob(filepath.Join(spec.Dir, fmt.Sprintf("r%d.%d", spec.Rank, pid)))
	for _, name := range sockets {
		os.Remove(name)
	}
}

// look is a look at all processes, which lists them by their marks.
type look struct {
	done   chan struct{}
	marked map[string][]int
}

// lookout looks at all processes. Workers mostly die together, and one look serves all that are dead
// when it begins.
type lookout struct {
	mu   sync.Mutex
	next *look // the look that begins next, if somebody waits for it
	busy bool  // a look is under way
}

var processes lookout

// marked returns the processes of workers by their marks, at a time after the call.
func (o *lookout) marked() map[string][]int {
	o.mu.Lock()
	if o.next == nil {
		o.next = &look{done: make(chan struct{})}
	}
	l := o.next
	if !o.busy {
		o.busy = true
		go o.run()
	}
	o.mu.Unlock()
	<-l.done
	return l.marked
}

// run looks until nobody waits for a look.
func (o *lookout) run() {
	for {
		o.mu.Lock()
		l := o.next
		o.next, o.busy = nil, l != nil
		o.mu.Unlock()
		if l == nil {
			return
		}
		l.marked = procfs.Marked(inherit.MarkVariable)
		close(l.done)
	}
}
