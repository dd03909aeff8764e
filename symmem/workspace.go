package symmem

import (
	"fmt"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// workspace is the memory a group communicates through: one segment in each member, laid out alike.
//
//	signals   a signal block of symm.cuh: Barrier, PutSignal, WaitSignal
//	pulls     the same for the blocks of the pull kernels
//	epochs    one 32-bit word a block of the packet kernels
//	inbox     packets: [block][bank][source][slot]
type workspace struct {
	seg        device.Segment
	mapped     []device.Segment // by group rank, seg among them
	processors int              // the fewest of any member's device
	signals    ptrs
	pulls      ptrs
	inbox      ptrs
	epochs     device.Ptr
}

const (
	packetBytes = 16
	packetSlots = 2048 // kSlots of one_shot_all_reduce.cu
	packetBanks = 2
)

// layout is the offsets within a segment.
type layout struct{ pulls, epochs, inbox, end int }

func layoutOf(ranks, channels int, p *plan) layout {
	var l layout
	l.pulls = aligned(signalBytes(channels, ranks))
	l.epochs = l.pulls + aligned(signalBytes(p.pullBlocks, ranks))
	l.inbox = l.epochs + aligned(4*p.packetBlocks)
	l.end = l.inbox + p.packetBlocks*packetBanks*ranks*packetSlots*packetBytes
	return l
}

// signalBytes is the size of a signal block of symm.cuh: slots, credits and arrivals by channel and rank, and
// a count of rounds by channel.
func signalBytes(channels, ranks int) int { return 4 * channels * (3*ranks + 1) }

// alignment of everything that is placed in device memory.
const alignment = 256

func aligned(n int) int { return (n + alignment - 1) &^ (alignment - 1) }

// furnish builds the workspace. It is collective over the group.
func (g *Group) furnish(op, desc string) {
	g.meeting.Lock()
	defer g.meeting.Unlock()
	rt := g.rt
	rt.mu.Lock()
	pad := rt.padSize
	rt.mu.Unlock()
	g.channels = pad / (4 * len(g.ranks))
	l := layoutOf(len(g.ranks), g.channels, rt.plan())
	seg, err := rt.dev.NewSegment(l.end)
	mapped, peers, err := g.share(op, fmt.Sprintf("%s, signal pad of %d bytes", desc, pad), seg, err, func(int) device.Segment { return nil })
	if err != nil {
		if seg != nil {
			seg.Close()
		}
		panic(rt.explain(op, err))
	}
	work := workspace{seg: seg, mapped: mapped, processors: peers[0].Processors}
	for i, s := range mapped {
		base := s.Ptr()
		work.signals[i] = base
		work.pulls[i] = base + device.Ptr(l.pulls)
		work.inbox[i] = base + device.Ptr(l.inbox)
		work.processors = min(work.processors, peers[i].Processors)
	}
	work.epochs = seg.Ptr() + device.Ptr(l.epochs)
	g.work = work
	g.builds++
	g.packetArgs, g.pullArgs = new(oneShotArgs), new(pullArgs)
}

// reset makes the group's own part all zero, as when it was new. No member may be communicating.
func (g *Group) reset(s device.Stream) error {
	return s.Set(g.work.seg.Ptr(), 0, layoutOf(len(g.ranks), g.channels, g.rt.plan()).end)
}

// release unmaps everything. A failure leaves memory mapped until the process ends and is no reason to fail.
func (work *workspace) release() {
	for _, s := range work.mapped {
		s.Close()
	}
	*work = workspace{}
}
