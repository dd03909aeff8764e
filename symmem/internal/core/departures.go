package symmem

import (
	"fmt"
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/waits"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Times of waitInVain.
const (
	vainAfter = 200 * time.Millisecond // a wait for a process that has ended is given up after this time
	vainEvery = 100 * time.Millisecond
)

// noteDeparture notes that the process of a rank of this host has ended, so that a program does not
// wait for it for ever. In a session, the session handles it; the network reports ranks of other
// hosts.
func (rt *Runtime) noteDeparture(rank int, why string) {
	if rt.places.Load() != nil && rank != rt.rank && rt.partOf(rank) == rt.partOf(rt.rank) {
		rt.departed.Add(rank, why)
		go rt.waitInVain()
	}
}

// waitInVain ends all waits of this rank as soon as one of them depends on a rank whose process has
// ended. It returns after that, or when the world is closed.
func (rt *Runtime) waitInVain() {
	for !rt.endsWait() {
		time.Sleep(vainEvery)
	}
}

// endsWait looks once for such a wait. It reports whether waitInVain is done. If several ranks have
// ended it names the first: the others may have ended because of it.
func (rt *Runtime) endsWait() bool {
	rt.looking.Lock() // not rt.mu, which a call may hold that waits for the device
	defer rt.looking.Unlock()
	if rt.closed.Load() || rt.abort.Load() != nil {
		return true
	}
	for _, d := range rt.departed.All() {
		for r := range waits.Pending(rt.watch) {
			if time.Duration(r.Elapsed) >= vainAfter && rt.depends(&r, d.Rank) {
				rt.gone.Store(&d.Rank)
				rt.Abort(fmt.Sprintf("rank %d %s", d.Rank, d.Why))
				return true
			}
		}
	}
	return false
}

// depends reports whether a wait is for a rank, or may be for it.
func (rt *Runtime) depends(r *device.WaitRecord, rank int) bool {
	c, peers := rt.parties(r)
	if len(peers) > 0 {
		return slices.Contains(peers, rank)
	}
	return waits.Of(r).Set && c.group != nil && slices.Contains(c.group.ranks, rank)
}
