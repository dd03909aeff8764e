package symmem

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/waits"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Times of waitInVain.
const (
	vainAfter = 200 * time.Millisecond // a wait that lasts so long gets no answer from a process that has ended
	vainEvery = 100 * time.Millisecond
)

// departures are the ranks of this host whose processes have ended, the first first.
type departures struct {
	mu   sync.Mutex
	list []departure
}

type departure struct {
	rank int
	why  string // "died"
}

// noteDeparture notes that the process of a rank has ended. Where a session looks after the ranks, that does; of those of other hosts, the network tells. In a program,
// what waits for a rank of its own host would wait for ever.
func (rt *Runtime) noteDeparture(rank int, why string) {
	if rt.places.Load() != nil && rank != rt.rank && rt.partOf(rank) == rt.partOf(rt.rank) {
		rt.departed.mu.Lock()
		defer rt.departed.mu.Unlock()
		rt.departed.list = append(rt.departed.list, departure{rank, why})
		go rt.waitInVain()
	}
}

// waitInVain ends all waits of this rank as soon as one depends on a rank whose process has ended. It returns then, or when the world is closed.
func (rt *Runtime) waitInVain() {
	for !rt.endsWait() {
		time.Sleep(vainEvery)
	}
}

// endsWait is a look of waitInVain, which reports whether it was the last one. Of several ranks that have ended it names the first, which the others may have
// followed because of it.
func (rt *Runtime) endsWait() bool {
	rt.looking.Lock() // not rt.mu, which a call may hold that waits for the device
	defer rt.looking.Unlock()
	if rt.closed.Load() || rt.abort.Load() != nil {
		return true
	}
	rt.departed.mu.Lock()
	departed := slices.Clone(rt.departed.list)
	rt.departed.mu.Unlock()
	for _, d := range departed {
		for r := range waits.Pending(rt.watch) {
			if time.Duration(r.Elapsed) >= vainAfter && rt.depends(&r, d.rank) {
				rt.gone.Store(&d.rank)
				rt.Abort(fmt.Sprintf("rank %d %s", d.rank, d.why))
				return true
			}
		}
	}
	return false
}

// depends reports whether a wait is for a rank, or may be.
func (rt *Runtime) depends(r *device.WaitRecord, rank int) bool {
	c, peers := rt.parties(r)
	if len(peers) > 0 {
		return slices.Contains(peers, rank)
	}
	return waits.Of(r).Set && c.group != nil && slices.Contains(c.group.ranks, rank)
}
