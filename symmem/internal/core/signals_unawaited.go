package symmem

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	knet "github.com/symmrepl/symmrepl/kernels/net"
	"github.com/symmrepl/symmrepl/symmem/internal/core/layout"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// unawaited is a signal that was put to this rank and that no wait has consumed.
type unawaited struct {
	from, channel int // from is a world rank
}

// unawaited lists such signals of the group, by channel. It waits for nothing, and leaves out
// signals that it cannot read.
func (g *Group) unawaited() (list []unawaited) {
	n := len(g.ranks)
	if g.work.seg == nil || g.stale.Load() != nil {
		return nil
	}
	slots, _ := g.rt.wordsAt(g.work.blocks[g.rank], g.channels*n)
	for at, w := range slots {
		if w != 0 {
			list = append(list, unawaited{g.ranks[at%n], at / n})
		}
	}
	network := g.rt.net.Load()
	if network == nil || !g.split.Spans() {
		return list
	}
	words := network.In(g.wired.Words)
	counts := make([]uint64, len(words))
	if err := g.rt.dev.Peek(unsafe.Slice((*byte)(unsafe.Pointer(&counts[0])), 8*len(counts)), g.wired.Links.Counts); err != nil {
		return list
	}
	for channel := range g.channels {
		for peer, r := range g.ranks {
			if i := (knet.Raised*g.channels+channel)*n + peer; atomic.LoadUint64(&words[i]) != counts[i] {
				list = append(list, unawaited{r, channel})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b unawaited) int { return a.channel - b.channel })
	return list
}

// elsewhere completes the hint for a signal of a rank that has not come: ": rank 1 signalled
// channel 2, rank 0 waits on 3" if the rank has put signals on other channels that were not
// awaited; "" if it has not.
func (g *Group) elsewhere(rank, channel int) string {
	const most = 4
	var channels []string
	for _, u := range g.unawaited() {
		if u.from == rank && u.channel != channel {
			channels = append(channels, fmt.Sprint(u.channel))
		}
	}
	if len(channels) == 0 {
		return ""
	}
	if n := len(channels); n > most {
		channels = append(channels[:most], fmt.Sprintf("and %d more", n-most))
	}
	return fmt.Sprintf(": rank %d signalled channel %s, rank %d waits on %d", rank, strings.Join(channels, ", "), g.rt.rank, channel)
}

// keepUnawaited notes the unawaited signals before they are cleared. No rank communicates.
func (rt *Runtime) keepUnawaited() {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.cleared = nil
	for _, g := range rt.groups {
		for _, u := range g.unawaited() {
			rt.cleared = append(rt.cleared, fmt.Sprintf("%v: a signal of rank %d on channel %d was not awaited", g, u.from, u.channel))
		}
	}
}

// ClearedSignals lists the signals to this rank that no wait had consumed when Recover cleared them
// last: PendingSignals, for the time before. A session recovers after a cell in which a wait was
// given up, or a rank was replaced. It is not collective.
func (rt *Runtime) ClearedSignals() []string {
	rt.hostCall("ClearedSignals")
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return slices.Clone(rt.cleared)
}

// PendingSignals waits for this rank's work and lists the signals to and from this rank that no
// wait has consumed: puts that were not awaited, by group, peer and channel, and the words that a
// wait left when it was given up. There are none when every put has its wait. It is not collective;
// peers that are still at work may change the answer.
func (rt *Runtime) PendingSignals() []string {
	const op = "PendingSignals"
	rt.hostCall(op)
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

// pending describes the words that are not zero although nothing is under way: in this member's
// workspace, and in its peers' workspaces the words for this member.
func (g *Group) pending() (list []string, err error) {
	n := len(g.ranks)
	for i, owner := range g.ranks {
		if !g.split.Near(i) {
			continue
		}
		slots, err := g.rt.wordsAt(g.work.blocks[i], g.channels*n)
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
	over, err := g.pendingOver()
	if err != nil {
		return nil, err
	}
	list = append(list, over...)
	words, err := g.rt.wordsAt(g.work.seg.Ptr()+device.Ptr(g.layout().Copies), layout.CopyWords)
	if err != nil {
		return nil, err
	}
	for i, w := range words {
		if w != 0 && (i == layout.CopyPhase || i >= layout.CopyComing) {
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

// pendingOver lists the pending signals to and from other hosts.
func (g *Group) pendingOver() (list []string, err error) {
	n := g.rt.net.Load()
	if n == nil || !g.split.Spans() {
		return nil, nil
	}
	words := n.In(g.wired.Words)
	counts := make([]uint64, len(words))
	if err := g.rt.dev.Peek(unsafe.Slice((*byte)(unsafe.Pointer(&counts[0])), 8*len(counts)), g.wired.Links.Counts); err != nil {
		return nil, err
	}
	for channel := range g.channels {
		for peer, r := range g.ranks {
			at := func(kind int) int { return (kind*g.channels+channel)*len(g.ranks) + peer }
			if i := at(knet.Raised); atomic.LoadUint64(&words[i]) != counts[i] {
				list = append(list, fmt.Sprintf("%v: a signal of rank %d on channel %d was not awaited", g, r, channel))
			}
			if i := at(knet.Consumed); atomic.LoadUint64(&words[i]) != counts[i] {
				list = append(list, fmt.Sprintf("%v: rank %d has not awaited the signal put to it on channel %d", g, r, channel))
			}
		}
	}
	return list, nil
}
