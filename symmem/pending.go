package symmem

import (
	"fmt"
	"unsafe"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// PendingSignals waits for this rank's work and lists the signals to and from this rank that nobody has
// consumed: puts that were not awaited, by group, peer and channel, and what a wait that was given up left
// behind. There are none when every put has its wait. It is not collective; peers that are still at work may
// change the answer.
func (rt *Runtime) PendingSignals() []string {
	const op = "PendingSignals"
	rt.refuseCapture(op)
	rt.synchronize(op)
	rt.mu.Lock()
	defer rt.mu.Unlock()
	var list []string
	for _, g := range rt.groups {
		if g.stale.Load() == nil && g.work.seg != nil {
			pending, err := g.pending()
			if err != nil {
				panic(rt.failure(op, err))
			}
			list = append(list, pending...)
		}
	}
	return list
}

// pending describes the words of this member's workspace, and those for it in its peers', that are not zero although
// nothing is under way.
func (g *Group) pending() (list []string, err error) {
	n := len(g.ranks)
	for i, owner := range g.ranks {
		slots, err := g.rt.wordsAt(g.work.signals[i], g.channels*n)
		if err != nil {
			return nil, err
		}
		for at, w := range slots {
			channel, src := at/n, at%n
			switch {
			case w == 0:
			case i == g.rank:
				list = append(list, fmt.Sprintf("%v: a signal of rank %d on channel %d was not awaited", g, g.ranks[src], channel))
			case src == g.rank:
				list = append(list, fmt.Sprintf("%v: rank %d has not awaited the signal put to it on channel %d", g, owner, channel))
			}
		}
	}
	words, err := g.rt.wordsAt(g.work.copies[g.rank], copyWords)
	if err != nil {
		return nil, err
	}
	for i, w := range words {
		if w != 0 && (i == copyPhase || i >= copyComing) {
			list = append(list, fmt.Sprintf("%v: word %d of the copies is %d", g, i, w))
		}
	}
	return list, nil
}

// wordsAt reads 32-bit words of the device's memory at once.
func (rt *Runtime) wordsAt(p device.Ptr, n int) ([]uint32, error) {
	words := make([]uint32, n)
	if n == 0 {
		return words, nil
	}
	return words, rt.dev.Peek(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 4*n), p)
}
