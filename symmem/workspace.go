package symmem

import (
	"fmt"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// workspace is the memory a group communicates through: one segment in each member, laid out alike.
//
//	signals   a signal block of symm.cuh: Barrier, PutSignal, WaitSignal
//	meetings  the same for the blocks of the kernels that work between two barriers
//	copies    words of the copy engines: copyengine.go
//	pool      what each member did to the memory pool last, and before that: pool.go
//	epochs    one 32-bit word a block of the packet kernels
//	inbox     packets: [block][bank][source][slot]
//	counts    one 32-bit word a block of the line kernels: their epochs
//	lines     their inbox, laid out as that of packets
//	chunks    the inbox of two_shot_chunks: [block][bank][source, the owner left out][byte]
type workspace struct {
	seg        device.Segment
	mapped     []device.Segment // by group rank, seg among them
	processors int              // the fewest of any member's device
	signals    ptrs
	meetings   ptrs
	copies     ptrs
	pool       ptrs
	inbox      ptrs
	epochs     device.Ptr
	lines      ptrs
	counts     device.Ptr
	chunks     ptrs
	wholeLines bool // of all members
}

const (
	packetBytes = 16
	packetSlots = 512 // kThreads of packets.cuh
	packetBanks = 2
)

// layout is the offsets within a segment.
type layout struct{ meetings, copies, pool, epochs, inbox, counts, lines, chunks, end int }

func layoutOf(ranks, channels int, p *plan) layout {
	var l layout
	l.meetings = aligned(signalBytes(channels, ranks))
	l.copies = l.meetings + aligned(signalBytes(p.meetBlocks, ranks))
	l.pool = l.copies + aligned(4*copyWords)
	l.epochs = l.pool + aligned(8*poolWords)
	l.inbox = l.epochs + aligned(4*p.packetBlocks)
	l.counts = l.inbox + p.packetBlocks*packetBanks*ranks*packetSlots*packetBytes
	l.lines = l.counts + aligned(4*p.lineBlocks)
	l.chunks = l.lines + p.lineBlocks*packetBanks*ranks*p.lineSlots(ranks)*packetBytes
	l.end = l.chunks + p.chunkBlocks*chunkBanks*(ranks-1)*p.chunkBytes(ranks)
	return l
}

// signalBytes is the size of a signal block of symm.cuh: slots and arrivals by channel and rank, and a count of
// rounds by channel.
func signalBytes(channels, ranks int) int { return 4 * channels * (2*ranks + 1) }

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
		panic(rt.failure(op, err))
	}
	work := workspace{seg: seg, mapped: mapped, processors: peers[0].Processors, wholeLines: true}
	for i, s := range mapped {
		base := s.Ptr()
		work.signals[i] = base
		work.meetings[i] = base + device.Ptr(l.meetings)
		work.copies[i] = base + device.Ptr(l.copies)
		work.pool[i] = base + device.Ptr(l.pool)
		work.inbox[i] = base + device.Ptr(l.inbox)
		work.lines[i] = base + device.Ptr(l.lines)
		work.chunks[i] = base + device.Ptr(l.chunks)
		work.processors = min(work.processors, peers[i].Processors)
		work.wholeLines = work.wholeLines && peers[i].WholeLines
	}
	work.epochs = seg.Ptr() + device.Ptr(l.epochs)
	work.counts = seg.Ptr() + device.Ptr(l.counts)
	g.work = work
	g.builds++
	g.packetArgs, g.lineArgs, g.chunkArgs, g.pullArgs = new(packetArgs), new(lineArgs), new(chunkArgs), new(pullArgs)
}

// reset makes the group's own part all zero, as when it was new. No member may be communicating.
func (g *Group) reset(s device.Stream) error {
	g.watch.mu.Lock() // which stores into it too
	defer g.watch.mu.Unlock()
	return s.Set(g.work.seg.Ptr(), 0, layoutOf(len(g.ranks), g.channels, g.rt.plan()).end)
}

// release unmaps everything. A failure leaves memory mapped until the process ends and is no reason to fail.
func (work *workspace) release() {
	for _, s := range work.mapped {
		s.Close()
	}
	*work = workspace{}
}
