package symmem

import (
	"math"
	"slices"

	"github.com/symmrepl/symmrepl/kernels/abi"
	alltoallvdev "github.com/symmrepl/symmrepl/kernels/all_to_all_vdev"
	"github.com/symmrepl/symmrepl/kernels/hosts"
	"github.com/symmrepl/symmrepl/kernels/reduce"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// Collectives of groups that span hosts. One kernel moves all data, between hosts by pipes and
// within a host by loads and stores: kernels/hosts/pipes.cuh. An operation says which pipes it
// uses, how a member fills its outboxes from its input, and how it combines the data that arrives.
//
//	flat          pipes between all members; near ones read each other's outboxes
//	hierarchical  pipes between counterparts; the members of a host compute together what crosses, and share what arrives

// overHosts is a call on such a group.
type overHosts struct {
	c       *core.Call
	args    *hosts.HostsArgs // allocated apart: memory that a launch reads may hold no Go pointers
	members [][]int          // by host, as ranks of the group
	home    int
	rail    bool // the hierarchical way
	why     string
	most    int // elements of the longest stream of a member of this host
}

// newOverHosts begins such a call: it picks the way for a message of so many bytes. cannot says why
// the operation cannot go the hierarchical way; empty if it can.
func newOverHosts(c *core.Call, rules []tuning.Rule, bytes int, cannot string) *overHosts {
	o := &overHosts{c: c, args: &hosts.HostsArgs{Parts: 1}}
	o.members, o.home = c.Hosts()
	o.rail, o.why = wayOverHosts(c, rules, bytes, cannot)
	return o
}

// wayOverHosts picks the way of a call, and says why.
func wayOverHosts(c *core.Call, rules []tuning.Rule, bytes int, cannot string) (rail bool, why string) {
	w := tuning.Pick(rules, c.Group().Size(), bytes, false)
	rail, why = w.Path == tuning.Hierarchical.Path, w.Why
	switch {
	case c.Via() == core.Hierarchical && cannot != "":
		panic(c.Misuse("Via", "leave it out", "it has no hierarchical way here: %s", cannot))
	case cannot != "" && !c.Small():
		panic(c.Misuse("group", "make a smaller group",
			"%s in %v with more than %d ranks takes the hierarchical way, which it has not: %s", c.Op(), c.Group(), abi.MaxRanks, cannot))
	case c.Via() != "":
		return c.Via() == core.Hierarchical, "the call asks for it by Via"
	case !c.Small():
		return true, "there are too many ranks for the flat way"
	case rail && !c.Even():
		return false, "the group has more ranks on one host than on another"
	case cannot != "" && rail:
		return false, cannot
	}
	return rail, why
}

// way is the name of the way.
func (o *overHosts) way() core.Via {
	if o.rail {
		return core.Hierarchical
	}
	return core.Flat
}

// near are the members on this host.
func (o *overHosts) near() []int { return o.members[o.home] }

// index is this member's among them.
func (o *overHosts) index() int { return slices.Index(o.near(), o.c.Group().Rank()) }

// each calls f for every member that has a pipe to this one, this one and the members near it
// included, by host: at the hierarchical way only the counterparts.
func (o *overHosts) each(f func(member, place, host int, first bool)) {
	at := o.index()
	for host, part := range o.members {
		if o.rail {
			f(part[at], host, host, true)
			continue
		}
		for i, m := range part {
			f(m, m, host, i == 0)
		}
	}
}

// in adds an input, out an output.
func (o *overHosts) in(p device.Ptr) {
	o.args.In[o.args.Ins] = p
	o.args.Ins++
}

func (o *overHosts) out(p device.Ptr) {
	o.args.Out[o.args.Outs] = p
	o.args.Outs++
}

func addReceiver(p *hosts.PipeArgs, member, place int) {
	p.To[p.Receivers] = hosts.Far{Member: uint16(member), Place: uint16(place)}
	p.Receivers++
}

func addSender(p *hosts.PipeArgs, member, place int) {
	p.From[p.Senders] = hosts.Far{Member: uint16(member), Place: uint16(place)}
	p.Senders++
}

// send adds a receiver.
func (o *overHosts) send(member, place int) {
	addReceiver(&o.args.Pipes, member, place)
}

// target adds an outbox of this member to fill with a slice of the input.
func (o *overHosts) target(place, slice int) { o.fill(o.index(), place, slice) }

// fill adds one of a member of this host.
func (o *overHosts) fill(here, place, slice int) {
	o.args.Target[o.args.Targets] = hosts.Target{Place: uint16(place), Slice: uint16(slice), Here: uint16(here)}
	o.args.Targets++
}

// source adds the data of a member to the result. For a member on this host, box is the place in
// its outbox where the data lies.
func (o *overHosts) source(member, place, host, mark, box int) {
	if host != o.home {
		o.from(hosts.Source{Place: uint16(place), Mark: uint16(mark), Here: uint8(o.index())})
		addSender(&o.args.Pipes, member, place)
		return
	}
	o.from(hosts.Source{Place: uint16(box), Mark: uint16(mark), Here: uint8(slices.Index(o.near(), member)), Outbox: 1})
	if len(o.near()) > 1 && !o.rail {
		o.args.Meets |= hosts.MeetOutboxes
	}
}

// from adds a part of the result.
func (o *overHosts) from(s hosts.Source) {
	o.args.Source[o.args.Sources] = s
	o.args.Sources++
}

// all makes every member a source and a receiver of the same data, as all-reduce and all-gather do.
// mark returns the mark of a source.
func (o *overHosts) all(mark func(member int, first bool) int) {
	o.args.Pipes.Same = 1
	o.each(func(member, place, host int, first bool) {
		if host != o.home {
			o.send(member, place)
		}
		o.source(member, place, host, mark(member, first), place)
		if member == o.c.Group().Rank() {
			o.target(place, 0)
		}
	})
}

// apart makes every member a source and a receiver of a slice of its own, as reduce-scatter and
// all-to-all do.
func (o *overHosts) apart(mark func(member int, first bool) int) {
	own := o.c.Group().Rank()
	if o.rail {
		own = o.home
	}
	o.each(func(member, place, host int, first bool) {
		if host != o.home {
			o.send(member, place)
		}
		o.source(member, place, host, mark(member, first), own)
		o.target(place, member)
	})
}

// stream sets the number of elements that travel and returns the first of them: all n elements or,
// if the members of a host share the elements at the hierarchical way, this member's slice.
func (o *overHosts) stream(n, slice int) (at int) {
	o.most = n
	if o.rail && slice > 0 {
		at = min(o.index()*slice, n)
		o.most, n = min(slice, n), min(slice, n-at)
	}
	o.args.N = uint64(n)
	return at
}

// run launches the kernel on elements that take so many bytes in the pipes. chosen is the size by
// which the way was chosen.
func (o *overHosts) run(kernel string, c abi.Context, size, chosen int) {
	a, plan := o.args, o.c.Plan()
	chunk := o.c.Pipes(&a.Pipes, o.rail, c) / size / int(a.Parts) &^ 63
	a.Chunk = uint32(chunk)
	chunks := func(n int) int { return (n + chunk - 1) / chunk }
	o.c.LaunchHosts(kernel, min(plan.HostBlocks, max(1, chunks(o.most))), plan.HostThreads, core.Sent{
		Way: o.way(), Why: o.why, Size: chosen, Bytes: int(a.N) * int(a.Parts) * size * int(a.Pipes.Receivers),
		Posts: chunks(int(a.N)) * int(a.Pipes.Receivers+a.Pipes.Senders),
	}, launch.Bytes(a))
}

// firstOfHost marks the sources of a reduction.
func firstOfHost(_ int, first bool) int {
	if first {
		return 1
	}
	return 0
}

var hostsKernels = namesOf("hosts_reduce_")

// partial is the bytes of an element of a sum that is not finished.
func (r *reduction) partial() int {
	if r.code&reduce.Wide != 0 {
		return 4
	}
	return r.dtype.Size()
}

// allReduceOverHosts is AllReduce of a group that spans hosts. At the hierarchical way every member
// of a host has a slice of the tensor: it reduces its host's slice, exchanges the sum with its
// counterparts and gives the result to its host.
func (r *reduction) allReduceOverHosts() {
	t := r.reads(core.Reads | core.Writes)
	h := r.Mapped(t)
	r.PickStream()
	if t.Numel() == 0 {
		return
	}
	o := newOverHosts(&r.Call, r.Plan().HostsReduce, t.Bytes(), "")
	c := r.Admit(t)
	const line = 64 // elements
	at := o.stream(t.Numel(), ((t.Numel()+len(o.near())-1)/len(o.near())+line-1)&^(line-1))
	if o.rail {
		for _, m := range o.near() {
			o.in(h.At(m) + device.Ptr(at*t.DType().Size()))
			o.out(h.At(m) + device.Ptr(at*t.DType().Size()))
		}
	} else {
		o.in(core.Operand(t).Addr())
		o.out(core.Operand(t).Addr())
	}
	o.all(firstOfHost)
	o.args.Op = uint32(r.code)
	o.run(hostsKernels[t.DType()], c, r.partial(), t.Bytes())
}

// reduceScatterOverHosts is ReduceScatter of such a group. At the hierarchical way a member reduces
// its host's data for each of its counterparts.
func (r *reduction) reduceScatterOverHosts(out *Tensor, c abi.Context, h core.Copies, slice, width, pitch int) {
	t := r.t
	o := newOverHosts(&r.Call, r.Plan().HostsReduce, t.Bytes(), "")
	if o.rail {
		for _, m := range o.near() {
			o.in(h.At(m))
		}
	} else {
		o.in(core.Operand(t).Addr())
	}
	o.out(core.Operand(out).Addr())
	o.apart(firstOfHost)
	o.args.Slice, o.args.Width, o.args.InPitch = uint64(slice), uint64(width), uint64(pitch)
	o.args.Op = uint32(r.code)
	o.stream(out.Numel(), 0)
	o.run(hostsKernels[t.DType()], c, r.partial(), t.Bytes())
}

var hostsTileKernels = namesOf("hosts_tiles_")

// reduceTilesOverHosts reduces pieces, each of which has a root, in such a group. A launch reduces
// one piece for every member at most. At the hierarchical way a member reduces its host's data for
// each of its counterparts. bytes is the size of the reduced data.
func (r *reduction) reduceTilesOverHosts(pieces []tilePiece, bytes int) {
	for _, p := range pieces {
		if max(p.cols, p.pitch, p.outPitch) > math.MaxUint32 {
			panic(r.Misuse("tensor", "View it with shorter rows",
				"%v has rows of more than %d elements, which do not go over hosts", core.Operand(p.in).Brief(), uint32(math.MaxUint32)))
		}
	}
	o := newOverHosts(&r.Call, r.Plan().HostsReduce, bytes, likeFlat(&r.Call))
	copies := make([]core.Copies, len(pieces))
	for i, p := range pieces {
		copies[i] = r.Mapped(p.in)
	}
	r.PickStream()
	var used []*Tensor
	for _, p := range pieces {
		if used = append(used, p.in); p.out != nil {
			used = append(used, p.out)
		}
	}
	c := r.Admit(used...)
	o.apart(firstOfHost)
	chunk := r.Pipes(&o.args.Pipes, o.rail, c) / r.partial() &^ 63
	places := map[int]int{} // of the members that get pieces from this one
	o.each(func(member, place, _ int, _ bool) { places[member] = place })
	near := []int{r.Group().Rank()} // of whose tensors this member reduces them
	if o.rail {
		near = o.near()
	}
	var launches []*hosts.HostsTilesArgs
	longest, given := 0, make([]int, r.Group().Size()) // pieces of each member
	for i, p := range pieces {
		n, number := p.rows*p.cols, given[p.root]
		if n == 0 {
			continue
		}
		given[p.root]++
		if number == len(launches) {
			launches = append(launches, &hosts.HostsTilesArgs{
				Pipes: o.args.Pipes, Chunk: uint32(chunk), Meets: o.args.Meets, Op: uint32(r.code),
				Sources: o.args.Sources, Ins: uint32(len(near)), Source: o.args.Source,
			})
		}
		a := launches[number]
		a.Longest = max(a.Longest, uint64(n))
		longest = max(longest, n)
		place, mine := places[p.root]
		if !mine {
			continue
		}
		a.Tile[place] = hosts.HostsTile{N: uint64(n), Width: uint32(p.cols), Pitch: uint32(p.pitch)}
		for k, m := range near {
			a.In[place*len(near)+k] = copies[i].At(m) + device.Ptr(p.from*p.in.DType().Size())
		}
		if p.out != nil {
			a.Out, a.OutPitch = p.to, uint32(p.outPitch)
		}
	}
	r.launchTiles(o, launches, longest, chunk, bytes)
}

// launchTiles launches them. longest is the largest piece of all.
func (r *reduction) launchTiles(o *overHosts, launches []*hosts.HostsTilesArgs, longest, chunk, chosen int) {
	chunks := func(n uint64) int { return (int(n) + chunk - 1) / chunk }
	s := core.Sent{Way: o.way(), Why: o.why, Size: chosen}
	var args [][]byte
	for _, a := range launches {
		for _, to := range a.Pipes.To[:a.Pipes.Receivers] {
			s.Bytes += int(a.Tile[to.Place].N) * r.partial()
			s.Posts += chunks(a.Tile[to.Place].N)
		}
		s.Posts += chunks(a.Tile[a.Pipes.Place].N) * int(a.Pipes.Senders)
		args = append(args, launch.Bytes(a))
	}
	plan := r.Plan()
	r.LaunchHosts(hostsTileKernels[r.dtype], min(plan.HostBlocks, max(1, chunks(uint64(longest)))), plan.HostThreads, s, args...)
}

// The exchanges move bytes. t is a stream to send, out a tensor of pieces.

// piece marks the sources of an exchange.
func pieceOf(member int, _ bool) int { return member }

// overHosts runs an exchange of a group that spans hosts. lay lays out the sources and targets of a
// way.
func (e *exchange) overHosts(shape []int, n int, rules []tuning.Rule, cannot string, lay func(o *overHosts)) *Tensor {
	defer e.Enter().Leave()
	if e.out == e.t {
		e.t = e.Symmetric(e.t, core.Reads|core.Writes)
		e.out = e.t
		e.from = e.Mapped(e.t)
	}
	if e.pushes = e.out != nil && e.Maps(e.out); e.pushes {
		e.to = e.Mapped(e.out)
		e.Record.On(e.out)
	} else {
		e.Through(e.t)
		e.Record.On(e.t)
	}
	e.PickStream()
	if cannot == "" && !e.pushes && !e.Small() {
		cannot = "out is not symmetric, so that the ranks of a host cannot store to each other's"
	}
	o := newOverHosts(&e.Call, rules, e.t.Bytes(), cannot)
	if e.out == nil {
		e.out = e.Fresh(e.t.DType(), slices.Clone(shape), numelOf(shape))
	}
	if n == 0 {
		return e.out
	}
	c := e.Admit(e.t, e.out)
	o.stream(n, 0)
	lay(o)
	o.run("hosts_copy", c, 1, e.t.Bytes())
	return e.out
}

// allGatherOverHosts is AllGather: members send their whole tensor. At the hierarchical way each
// member passes on the data that it receives to the members of its host: it stores to their outs,
// if these are symmetric; otherwise they read it from its boxes.
func (e *exchange) allGatherOverHosts(shape []int, n int) *Tensor {
	return e.overHosts(shape, n, e.Plan().HostsCopy, "", func(o *overHosts) {
		o.in(core.Operand(e.t).Addr())
		o.args.Stride = uint64(n)
		if !o.rail || !e.pushes {
			o.out(core.Operand(e.out).Addr())
		} else {
			for _, m := range o.near() {
				o.out(e.to.At(m))
			}
		}
		o.all(pieceOf)
		if !o.rail || e.pushes {
			return
		}
		o.args.Meets, o.args.Sources = hosts.MeetInboxes, 0
		for host, part := range o.members {
			for i, m := range part {
				o.from(hosts.Source{Place: uint16(host), Mark: uint16(m), Here: uint8(i), Outbox: uint8(truth(host == o.home))})
			}
		}
	})
}

// likeFlat returns the reason why an operation with slices for every member has no hierarchical way
// in a group that is too large for the flat way; "" if the group is small enough.
func likeFlat(c *core.Call) string {
	if c.Small() {
		return ""
	}
	return "it is for as many ranks as the flat one"
}

// blocks are the slices of an all-to-all, which may consist of rows that lie apart: see
// hosts.HostsArgs.
type blocks struct {
	slice, stride            int // bytes from one to the next in the input, and in the output
	width, inPitch, outPitch int
}

// allToAllOverHosts is AllToAll and AllToAllPermute: members send each other slices of n bytes. At
// the hierarchical way the members of a host fill the outboxes of each other, so that each sends to
// its counterparts all data of its host for them.
func (e *exchange) allToAllOverHosts(shape []int, n int, b blocks) *Tensor {
	return e.overHosts(shape, n, e.Plan().HostsAllToAll, likeFlat(&e.Call), func(o *overHosts) {
		o.in(core.Operand(e.t).Addr())
		o.out(core.Operand(e.out).Addr())
		o.args.Slice, o.args.Stride = uint64(b.slice), uint64(b.stride)
		o.args.Width, o.args.InPitch, o.args.OutPitch = uint64(b.width), uint64(b.inPitch), uint64(b.outPitch)
		if !o.rail {
			o.apart(pieceOf)
			return
		}
		o.args.Parts, o.args.Meets = uint32(len(o.near())), hosts.MeetFilling
		o.each(func(member, place, host int, _ bool) {
			if host != o.home {
				o.send(member, place)
				addSender(&o.args.Pipes, member, place)
			}
			for i, m := range o.members[host] {
				o.fill(i, place, m)
				o.from(hosts.Source{Place: uint16(place), Mark: uint16(m), Here: uint8(o.index()),
					Outbox: uint8(truth(host == o.home)), Part: uint8(i)})
			}
		})
	})
}

// broadcastOverHosts: the root sends. At the hierarchical way every member of its host sends a
// slice, which its counterparts give to their hosts.
func (e *exchange) broadcastOverHosts(root int) *Tensor {
	n := e.t.Bytes()
	return e.overHosts(core.Operand(e.t).Dims(), n, e.Plan().HostsCopy, "", func(o *overHosts) {
		me, at := e.g.Rank(), 0
		from := root
		if o.rail {
			at = o.stream(n, sliceBytes(e.t, len(o.near())))
			for host, part := range o.members {
				if slices.Contains(part, root) {
					from = o.members[host][o.index()]
				}
			}
			for _, m := range o.near() {
				if m != root {
					o.out(e.to.At(m) + device.Ptr(at))
				}
			}
		} else if me != root {
			o.out(core.Operand(e.t).Addr())
		}
		o.args.Pipes.Same = 1
		o.each(func(member, place, host int, _ bool) {
			if member == from {
				o.source(member, place, host, 0, place)
				if me == from {
					o.in(e.from.At(root) + device.Ptr(at))
					o.target(place, 0)
				}
			} else if me == from && host != o.home {
				o.send(member, place)
			}
		})
	})
}

// rowsOverHosts is an exchange of rows by splits. What is put where follows from the splits of all
// ranks, on the device: rows go straight into their places, and nothing is left for a host to
// share.
func rowsOverHosts(c *core.Call, rows alltoallvdev.RowsArgs, out core.Copies, threads int, admit func() abi.Context) {
	_, why := wayOverHosts(c, []tuning.Rule{{Way: tuning.Straight}}, out.Size(), "every row goes straight into its place")
	members, home := c.Hosts()
	a := &hosts.HostsRowsArgs{Rows: rows}
	a.Window, a.Rows.Start = out.Window()
	far := 0
	for host, part := range members {
		for _, m := range part {
			if host == home {
				continue
			}
			addReceiver(&a.Pipes, m, m)
			addSender(&a.Pipes, m, m)
			far++
		}
	}
	a.Pipes.Same = 1
	c.Pipes(&a.Pipes, false, admit())
	p, n := c.Plan(), int(rows.N)/c.Group().Size()*far
	blocks := min(p.HostRowBlocks, p.MeetBlocks, c.Work().Processors, max(1, out.Size()/vdevBlockBytes))
	c.LaunchHosts("hosts_rows", blocks, threads,
		core.Sent{Way: core.Flat, Why: why, Size: out.Size(), Posts: n + 2*far*blocks, Splits: n}, launch.Bytes(a))
}
