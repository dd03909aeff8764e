package symmem

import (
	"fmt"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/layout"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Workspace is the memory through which a group communicates: one segment in each member, with the
// same layout. The workspace of a group that spans hosts ends with the counts and the tables of
// symm/net.cuh, at the place of the epochs of others. The parts of members on other hosts are not
// mapped, and members from number MaxRanks on have no pointers here: operations that need them work
// in the LSA team.
//
//	signals   a signal block of symm/signal.cuh: Barrier, PutSignal, WaitSignal
//	meetings  the same for the blocks of the kernels that work between two barriers
//	copies    words of the copy engines: package copies
//	pool      the last two steps of each member in the memory pool: pool.go
//	epochs    one 32-bit word a block of the packet kernels
//	inbox     packets: [block][bank][source][slot]
//	counts    one 32-bit word a block of the line kernels: their epochs
//	lines     their inbox, laid out like inbox
//	chunks    the inbox of two_shot_chunks: [block][bank][source, the owner left out][byte]
//	tables    of a group that spans hosts: an abi.NetGroup and the lists to which it points, which Recover keeps
//	pipes     of a group that spans hosts: the inboxes and then the outboxes of pipes.go
type Workspace struct {
	seg        device.Segment
	mapped     []device.Segment // by group rank, seg among them; nil of members on other hosts
	blocks     []device.Ptr     // the signal blocks of mapped
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
	WholeLines bool // of all members' devices
	Multicast  bool // likewise
	boxes      []*box
}

// layout returns the layout of the group's workspace.
func (g *Group) layout() layout.Workspace {
	if g.split.Spans() {
		return layout.Spanning(len(g.ranks), g.channels, g.rt.plan, g.pipes())
	}
	return layout.Local(len(g.ranks), g.channels, g.rt.plan)
}

// build builds the workspace. It is collective over the group.
func (g *Group) build(op, desc string) {
	g.meeting.Lock()
	defer g.meeting.Unlock()
	rt := g.rt
	rt.mu.Lock()
	pad := rt.padSize
	rt.mu.Unlock()
	g.channels = pad / (4 * len(g.ranks))
	l := g.layout()
	seg, err := rt.dev.NewSegment(l.End)
	mapped, peers, err := g.share(op, fmt.Sprintf("%s, signal pad of %d bytes", desc, pad), seg, err,
		func(int) device.Segment { return nil })
	if err != nil {
		if seg != nil {
			seg.Close()
		}
		panic(rt.failure(op, err))
	}
	work := Workspace{seg: seg, mapped: mapped, blocks: make([]device.Ptr, len(mapped)), Processors: peers[0].Processors,
		WholeLines: true, Multicast: true}
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
		work.Meetings.Block[i] = base + device.Ptr(l.Meetings)
		work.copies[i] = base + device.Ptr(l.Copies)
		work.pool[i] = base + device.Ptr(l.Pool)
		work.Inbox[i] = base + device.Ptr(l.Inbox)
		work.Lines[i] = base + device.Ptr(l.Lines)
		work.Chunks[i] = base + device.Ptr(l.Chunks)
	}
	work.Epochs = seg.Ptr() + device.Ptr(l.Epochs)
	work.Counts = seg.Ptr() + device.Ptr(l.Counts)
	g.work = work
	g.openCopies()
	if err := g.wire(op, desc); err != nil {
		g.work.release()
		panic(rt.failure(op, err))
	}
	g.builds++
	g.args = new(launch.Arguments)
}

// unbuild gives the workspace back, to be built again. No member may be communicating.
func (g *Group) unbuild() {
	g.watch.Forget()
	g.rt.mu.Lock()
	defer g.rt.mu.Unlock()
	g.unwire()
	g.work.release()
}

// reset makes this rank's part all zero, as when it was new. No member may be communicating.
func (g *Group) reset(s device.Stream) error {
	return g.watch.Reset(func() error { return s.Set(g.work.seg.Ptr(), 0, g.layout().Tables) })
}

// release unmaps everything. A failure leaves memory mapped until the process ends and is no reason
// to fail.
func (work *Workspace) release() {
	for _, s := range work.mapped {
		if s != nil {
			s.Close()
		}
	}
	for _, b := range work.boxes {
		b.release()
	}
	*work = Workspace{}
}

// box is memory of the members of a group into which copy engines put the data of a call: symmetric
// memory that no program sees. It is a part of the group's workspace that is made when a call needs
// it, and again when a call needs more. Earlier boxes stay for the graphs that use them.
type box struct {
	mapped []device.Segment // by group rank
	size   int
}

// box is the group's box if it has n bytes, or nil.
func (work *Workspace) box(n int) *box {
	if k := len(work.boxes); k > 0 && work.boxes[k-1].size >= n {
		return work.boxes[k-1]
	}
	return nil
}

// release unmaps the box. A failure leaves memory mapped until the process ends and is no reason to
// fail.
func (b *box) release() {
	for _, s := range b.mapped {
		if s != nil {
			s.Close()
		}
	}
}
