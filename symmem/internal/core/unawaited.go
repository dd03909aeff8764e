package symmem

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	knet "github.com/symmrepl/symmrepl/kernels/net"
)

// unawaited is a signal that was put to this rank and that no wait has consumed.
type unawaited struct {
	from, channel int // from is a world rank
}

// unawaited lists those of the group's signals, by channel, without waiting for anything. What it cannot read it leaves out.
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
	words := network.In(g.wired)
	counts := make([]uint64, len(words))
	if err := g.rt.dev.Peek(unsafe.Slice((*byte)(unsafe.Pointer(&counts[0])), 8*len(counts)), g.links.Counts); err != nil {
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

// elsewhere goes on about a signal of a rank on a channel that has not come: ": rank 1 signalled channel 2, rank 0 waits on 3" if the rank has put others, which
// nobody has awaited; "" if it has not.
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

// keepUnawaited notes which signals there are, before they are cleared. No rank communicates.
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

// ClearedSignals lists the signals to this rank that nobody had awaited when Recover cleared them last: PendingSignals, for the time before. In a session that is
// after a cell in which a wait was given up, or a rank was replaced. It is not collective.
func (rt *Runtime) ClearedSignals() []string {
	rt.hostCall("ClearedSignals")
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return slices.Clone(rt.cleared)
}
