package symmem

import (
	"slices"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/hosts"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Pipes
//
// Collectives of a group that spans hosts move data between hosts by the pipes of kernels/hosts. A
// group has two sets: of the flat way between any two members, each of which has the place of its
// rank; and of the hierarchical way between counterparts, each of which has the place of its host.
// The inboxes of both are one window, at the end of the group's workspace; the outboxes follow.

// networkWays are the ways of collectives over the network.
var networkWays = []string{string(Flat), string(Hierarchical)}

// checkHosts checks a call in which all members communicate. On a group that spans hosts it refuses
// a call that must reach the memory of all members; on a group of one host it refuses a way over
// hosts.
func (c *Call) checkHosts(of *operators.Operator) {
	g, op := c.opts.group, c.Record.Op
	for i := range len(c.opts.via) { // which all members must give alike
		c.Record.Parts.Mix(uint64(c.opts.via[i]))
	}
	switch {
	case c.opts.via != "" && !slices.Contains(networkWays, string(c.opts.via)): // a library has a network of its own
	case !g.split.Spans() && c.opts.via != "":
		panic(c.Misuse("Via", "leave it out", "all ranks of %v are on one host", g))
	case !g.split.Spans():
	case !of.Hosts:
		g.reachAll(op, of.Instead)
	case c.opts.has(operators.CopyEngine):
		panic(c.Misuse("CopyEngine", "leave it out, or use "+g.lsaCall(), "copy engines do not reach the ranks of %v on other hosts", g))
	default:
		var instead []string
		if _, ok := c.rt.dev.(device.CollectiveDevice); ok && of.NCCL {
			instead = []string{`symm.Via("NCCL"), which has a network of its own`}
		}
		g.carriesAny(op, instead...)
		c.Record.Far = true
		p := g.pipes()
		if c.opts.via == Hierarchical && p.Rail == 0 {
			panic(c.Misuse("Via", "leave it out", "%v has more members on one host than on another: %s", g, places.Spelled(g.split.Parts)))
		}
		if p.Flat == 0 && (p.Rail == 0 || c.opts.via == Flat) {
			panic(c.Misuse("group", "make a smaller group", "%v has %d ranks, and only the hierarchical way is for more than %d",
				g, len(g.ranks), abi.MaxRanks))
		}
	}
}

// Spans reports whether the call's group spans hosts.
func (c *Call) Spans() bool { return c.opts.group.split.Spans() }

// Via is the value of that option, empty if it was not given.
func (c *Call) Via() Via { return c.opts.via }

// Hosts lists the members of the group by host, as ranks of the group, and the number of this
// rank's host.
func (c *Call) Hosts() (members [][]int, home int) {
	return c.opts.group.split.Members, c.opts.group.split.Home
}

// Even reports whether the group has a hierarchical way, and Small whether it has a flat one.
func (c *Call) Even() bool { return c.opts.group.pipes().Rail > 0 }

func (c *Call) Small() bool { return c.opts.group.pipes().Flat > 0 }

// Pipes fills in the arguments that the kernels of kernels/hosts need for one of the group's two
// sets of pipes. head is the context of the group. It returns the bytes of a chunk, which are whole
// lines.
func (c *Call) Pipes(a *hosts.PipeArgs, rail bool, head abi.Context) (chunk int) {
	g := c.opts.group
	s, l, place := g.pipes().Set(rail), g.layout(), g.rank
	if rail {
		place = g.split.Home
	}
	boxes := g.work.seg.Ptr() + device.Ptr(l.Pipes)
	a.Between = head
	a.Inside = head
	here := g.split.Members[g.split.Home]
	a.Inside.WorldSize, a.Inside.Channels = int32(len(here)), uint32(c.rt.plan.MeetBlocks)
	for i, m := range here {
		if m == g.rank {
			a.Inside.Rank = int32(i)
		}
		a.Here[i] = uint16(m)
		a.Meetings.Block[i] = g.work.blocks[m] + device.Ptr(l.Meetings)
	}
	a.Net = g.wired.Table
	a.Inbox, a.Outbox = boxes+device.Ptr(s.Inbox), boxes+device.Ptr(s.Outbox)
	a.SlotBytes, a.Offset, a.Window = uint64(s.Slot), uint64(s.Inbox), g.wired.Inboxes
	a.Words, a.Place, a.Places = uint32(g.words().Pipes+s.Words), uint32(place), uint32(s.Places)
	return s.Slot
}

// Sent describes a call over hosts.
type Sent struct {
	Way    Via
	Why    string
	Size   int // of the message, by which the way was chosen
	Posts  int // operations that the kernel posts
	Bytes  int // that this rank sends to other hosts
	Splits int // numbers on the device that give further bytes to send; 0 if there are none
}

// LaunchHosts issues a kernel of kernels/hosts, of so many blocks and threads, once for each of the
// arguments. s describes all together.
func (c *Call) LaunchHosts(kernel string, blocks, threads int, s Sent, args ...[]byte) {
	c.Route = seam.Route{Way: "with", Bytes: s.Bytes, Of: string(s.Way), Why: s.Why, Size: s.Size, Splits: s.Splits}
	c.rt.expect(c.Record.Op, s.Posts)
	var err error
	for i := 0; i < len(args) && err == nil; i++ {
		err = c.submit(kernel, 0, device.Launch{Grid: [3]int{blocks, 1, 1}, Block: [3]int{threads, 1, 1}, Overlap: true}, args[i])
	}
	c.issued(err)
}

// LaunchPosting issues a kernel that may post operations for other hosts, in a number that only the
// device knows. way and why describe their way.
func (c *Call) LaunchPosting(kernel string, l device.Launch, args []byte, way, why string, size int) {
	c.Route = seam.Route{Way: "with", Of: way, Why: why, Size: size, Unknown: true}
	c.rt.hold(c.Record.Op, c.stream)
	c.Launch(kernel, 0, l, args)
}
