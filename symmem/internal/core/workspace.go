package symmem

import (
	"fmt"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	allreduce "github.com/symmrepl/symmrepl/kernels/all_reduce"
	"github.com/symmrepl/symmrepl/kernels/packets"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// Workspace is the memory a group communicates through: one segment in each member, laid out alike. That of a group that spans hosts ends
// with the counts and the tables of symm/net.cuh where others have the epochs. The parts of members on other hosts are not mapped, and members from
// MaxRanks on have no pointers here: what needs them works in the LSA team.
//
//	signals   a signal block of symm/signal.cuh: Barrier, PutSignal, WaitSignal
//	meetings  the same for the blocks of the kernels that work between two barriers
//	copies    words of the copy engines: copies.go
//	pool      what each member did to the memory pool last, and before that: pool.go
//	epochs    one 32-bit word a block of the packet kernels
//	inbox     packets: [block][bank][source][slot]
//	counts    one 32-bit word a block of the line kernels: their epochs
//	lines     their inbox, laid out as that of packets
//	chunks    the inbox of two_shot_chunks: [block][bank][source, the owner left out][byte]
//	tables    of a group that spans hosts: an abi.NetGroup and what it points to, which Recover keeps
//	pipes     of a group that spans hosts: the inboxes and then the outboxes of pipes.go
type Workspace struct {
	seg        device.Segment
	mapped     []device.Segment // by group rank, seg among them; nil of members on other hosts
	blocks     []device.Ptr     // where the signal blocks of mapped are
	Processors int              // the fewest of any member's device
	signals    abi.Signals
	Meetings   abi.Signals
	copies     abi.Ptrs
	pool       abi.Ptrs
	Inbox      abi.Ptrs
	Epochs     device.Ptr
	Lines      abi.Ptrs
	Counts     device.Ptr
	Chunks     abi.Ptrs
	WholeLines bool // of all members, as is
	Multicast  bool
}

// The shapes of the inboxes, as the kernels have them.
const (
	packetBytes = 16
	packetBanks = 2
	UnitBytes   = 16 // what two_shot_chunks loads and stores at once
)

// layout is the offsets within a segment.
type layout struct{ meetings, copies, pool, epochs, inbox, counts, lines, chunks, tables, pipes, end int }

func layoutOf(ranks, channels int, p *tuning.Plan) layout {
	var l layout
	l.meetings = aligned(signalBytes(channels, ranks))
	l.copies = l.meetings + aligned(signalBytes(p.MeetBlocks, ranks))
	l.pool = l.copies + aligned(4*copyWords)
	l.epochs = l.pool + aligned(8*poolWords)
	l.inbox = l.epochs + aligned(4*p.PacketBlocks)
	l.counts = l.inbox + p.PacketGrid(ranks)*packetBanks*ranks*packets.Threads*packetBytes
	l.lines = l.counts + aligned(4*p.LineBlocks)
	l.chunks = l.lines + p.LineBlocks*packetBanks*ranks*p.LineSlots(ranks)*packetBytes
	l.tables = l.chunks + p.ChunkBlocks*allreduce.ChunkBanks*(ranks-1)*p.ChunkCrowd(ranks)*allreduce.ChunkUnits*UnitBytes
	l.end = l.tables
	return l
}

// layout is that of the group's workspace.
func (g *Group) layout() layout {
	l := layoutOf(len(g.ranks), g.channels, g.rt.plan)
	if g.spans() {
		l.tables = l.epochs + aligned(8*g.netWords()) // kernels that have an inbox work in the LSA team
		l.pipes = l.tables + netTables(len(g.ranks))
		l.end = l.pipes + 2*g.pipeBytes()
	}
	return l
}

// signalBytes is the size of a signal block of symm/signal.cuh: slots and arrivals by channel and rank, a count of rounds
// by channel, whether an operation gave up, and the counters.
func signalBytes(channels, ranks int) int {
	return (gaveUpAt(channels, ranks)+4+7)&^7 + 8*abi.Counters
}

// gaveUpAt is where a signal block says that an operation gave up.
func gaveUpAt(channels, ranks int) int { return 4 * channels * (2*ranks + 1) }

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
	l := g.layout()
	seg, err := rt.dev.NewSegment(l.end)
	mapped, peers, err := g.share(op, fmt.Sprintf("%s, signal pad of %d bytes", desc, pad), seg, err, func(int) device.Segment { return nil })
	if err != nil {
		if seg != nil {
			seg.Close()
		}
		panic(rt.failure(op, err))
	}
	work := Workspace{seg: seg, mapped: mapped, blocks: make([]device.Ptr, len(mapped)), Processors: peers[0].Processors, WholeLines: true, Multicast: true}
	for i, s := range mapped {
		work.Processors = min(work.Processors, peers[i].Processors)
		work.WholeLines = work.WholeLines && peers[i].WholeLines
		work.Multicast = work.Multicast && peers[i].Multicast
		if s == nil {
			continue
		}
		base := s.Ptr()
		work.blocks[i] = base
		if i >= abi.MaxRanks {
			continue
		}
		work.signals.Block[i] = base
		work.Meetings.Block[i] = base + device.Ptr(l.meetings)
		work.copies[i] = base + device.Ptr(l.copies)
		work.pool[i] = base + device.Ptr(l.pool)
		work.Inbox[i] = base + device.Ptr(l.inbox)
		work.Lines[i] = base + device.Ptr(l.lines)
		work.Chunks[i] = base + device.Ptr(l.chunks)
	}
	work.Epochs = seg.Ptr() + device.Ptr(l.epochs)
	work.Counts = seg.Ptr() + device.Ptr(l.counts)
	g.work = work
	if err := g.wire(op, desc); err != nil {
		g.work.release()
		panic(rt.failure(op, err))
	}
	g.builds++
	g.args = new([maxArgs / 8]uint64)
}

// reset makes the group's own part all zero, as when it was new. No member may be communicating.
func (g *Group) reset(s device.Stream) error {
	g.watch.mu.Lock() // which stores into it too
	defer g.watch.mu.Unlock()
	return s.Set(g.work.seg.Ptr(), 0, g.layout().tables)
}

// release unmaps everything. A failure leaves memory mapped until the process ends and is no reason to fail.
func (work *Workspace) release() {
	for _, s := range work.mapped {
		if s != nil {
			s.Close()
		}
	}
	*work = Workspace{}
}

// PendingSignals waits for this rank's work and lists the signals to and from this rank that nobody has
// consumed: puts that were not awaited, by group, peer and channel, and what a wait that was given up left
// behind. There are none when every put has its wait. It is not collective; peers that are still at work may
// change the answer.
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

// pending describes the words of this member's workspace, and those for it in its peers', that are not zero although
// nothing is under way.
func (g *Group) pending() (list []string, err error) {
	n := len(g.ranks)
	for i, owner := range g.ranks {
		if !g.near(i) {
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
	words, err := g.rt.wordsAt(g.work.seg.Ptr()+device.Ptr(g.layout().copies), copyWords)
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
