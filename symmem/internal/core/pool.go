package symmem

import (
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/kernels/abi"
	knet "github.com/symmrepl/symmrepl/kernels/net"
	poolkernel "github.com/symmrepl/symmrepl/kernels/pool"
	"github.com/symmrepl/symmrepl/symmem/internal/core/calls"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/layout"
	"github.com/symmrepl/symmrepl/symmem/internal/core/memory"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// PoolStats describes a group's memory pool on this rank.
type PoolStats struct {
	Blocks     int    // made so far; each took one meeting of the ranks on the host
	Taken      int    // of these, in use
	Bytes      int    // of data in all blocks
	TakenBytes int    // of data in those in use
	Takes      uint64 // tensors taken so far
	Frees      uint64
}

// UseMemPool calls f. Within f, Local, Empty of the same group, and all operations that return a
// tensor take symmetric memory from the memory pool of a group. The same holds for allocations by
// other goroutines meanwhile. The group is all ranks, or the group given as an option. Its members
// must take and free in the same order, so Local and these operations are then collective.
// [Runtime.GetMemPool] returns the pool itself.
//
// A tensor of the pool differs from a tensor of Empty outside of it in two ways: it may reuse freed
// memory without a meeting of the ranks on the host, and Rendezvous meets no other rank. Taking and
// Free are in the order of the stream, where all members meet: Free waits on the host only for
// other streams that used the tensor. The signal pad is zero, and a tensor of Local is zero on all
// members before any member's stream goes on. The tensor lives until Free; the garbage collector
// does not return it.
//
// If members take or free in different orders, the device detects it. The next synchronisation of
// each member then reports the steps of both ranks, as KindMismatch, and communication is refused
// until Recover. In a group that spans hosts the tallies detect it, as they detect different
// operations. Recover empties the pool: tensors in use then keep their data, and their Free is not
// collective. A block is at most twice as large as the tensor for which it was made, or 1 MiB
// larger. It is never divided or joined with another block, and is freed by Recover or with the
// group. PyTorch's expandable segments, which grow in place, have no counterpart, because a segment
// that all members map cannot grow without a meeting. Memory cannot be taken while a graph is
// captured.
//
// PyTorch: use_mem_pool with get_mem_pool
//
// Shapes: any, as Local and the operators take them.
//
// Synchronises: taking and Free are collective over the group and ordered on the stream.
//
// Options: *Group (by default all ranks).
//
// Capture: memory cannot be taken within one.
//
// Errors: KindMismatch where members take or free differently, at the next synchronisation; and the
// errors of waits.
func (rt *Runtime) UseMemPool(f func(), opts ...Option) {
	const op = "UseMemPool"
	rt.needFunction(op, f)
	rt.memPool(op, opts).use(op, f)
}

// MemPool is the memory pool of a group: see [Runtime.UseMemPool]. It ends with its group.
type MemPool struct{ g *Group }

// GetMemPool returns the memory pool of all ranks, or of the group given as an option. It is not
// collective: a group has one pool from the start, without memory until something is taken.
//
// PyTorch: get_mem_pool
//
// Shapes: none.
//
// Synchronises: no.
//
// Options: *Group (by default all ranks).
//
// Capture: it issues nothing.
//
// Errors: KindMisuse for other options, and for a group that spans hosts where no network connects
// them.
func (rt *Runtime) GetMemPool(opts ...Option) *MemPool { return rt.memPool("GetMemPool", opts) }

func (rt *Runtime) memPool(op string, opts []Option) *MemPool {
	g := rt.groupOf(op, rt.all, opts)
	g.carriesAny(op)
	return &MemPool{g}
}

// exists refuses a nil pool.
func (p *MemPool) exists(op string) {
	if p == nil || p.g == nil {
		panic(nilArgument(op, "pool"))
	}
}

// Use calls f with the pool in use: see [Runtime.UseMemPool].
func (p *MemPool) Use(f func()) {
	const op = "MemPool.Use"
	p.exists(op)
	p.g.rt.needFunction(op, f)
	p.use(op, f)
}

// Empty takes a tensor of zeros from the pool, as Empty does within Use.
func (p *MemPool) Empty(dtype DType, shape ...int) *Tensor {
	const op = "MemPool.Empty"
	p.exists(op)
	return p.g.emptyPooled(op, dtype, shape)
}

// Stats describes the pool on this rank.
func (p *MemPool) Stats() PoolStats {
	p.exists("MemPool.Stats")
	return p.g.poolStats()
}

// Group is the group that the pool belongs to.
func (p *MemPool) Group() *Group {
	p.exists("MemPool.Group")
	return p.g
}

// String is, for example, "memory pool of world: 2 of 3 blocks taken, 1048576 of 1052672 bytes".
func (p *MemPool) String() string {
	if p == nil || p.g == nil {
		return "nil memory pool"
	}
	s := p.g.poolStats()
	return fmt.Sprintf("memory pool of %v: %d of %d blocks taken, %d of %d bytes", p.g, s.Taken, s.Blocks, s.TakenBytes, s.Bytes)
}

func (p *MemPool) use(op string, f func()) {
	g, rt := p.g, p.g.rt
	g.usable(op)
	rt.mu.Lock()
	before := rt.pooling
	rt.pooling = g
	rt.mu.Unlock()
	defer func() {
		rt.mu.Lock()
		defer rt.mu.Unlock()
		rt.pooling = before
	}()
	f()
}

// MemPoolStats describes the memory pool of all ranks, or of the group given as an option.
//
// PyTorch: none
//
// Shapes: none.
//
// Synchronises: no; the host counts.
//
// Options: *Group (by default all ranks).
//
// Capture: it issues nothing.
//
// Errors: KindMisuse for other options.
func (rt *Runtime) MemPoolStats(opts ...Option) PoolStats {
	return rt.groupOf("MemPoolStats", rt.all, opts).poolStats()
}

func (g *Group) poolStats() PoolStats {
	g.rt.mu.Lock()
	defer g.rt.mu.Unlock()
	return PoolStats(g.pool.Counts())
}

// emptyPooled is Empty from the pool.
func (g *Group) emptyPooled(op string, dtype DType, shape []int) *Tensor {
	rt := g.rt
	dtype = rt.typed(dtype)
	n := rt.numel(op, dtype, shape)
	rt.refuseClosed(op)
	g.mustTakePart(op)
	c := rt.ownCall(op)
	defer c.Enter().Leave()
	c.PickStream()
	return g.takePooled(&c, dtype, slices.Clone(shape), n, true)
}

// takePooled allocates a tensor of the pool for the call c, which has begun; with zeros if zero is
// set. c leaves and enters again while the pool grows.
func (g *Group) takePooled(c *Call, dtype DType, shape []int, n int, zero bool) *Tensor {
	rt, op := g.rt, c.Record.Op
	rt.refuseTake(op)
	g.usable(op)
	rt.inStep(op)
	bytes := n * dtype.Size()
	pad, size := rt.padSize, memory.BlockSize(bytes)
	b := g.pool.Lowest(pad, size)
	for b == nil {
		c.unlocked(func() { g.growPool(op, dtype.element().Shaped(shape), pad, size) })
		rt.refuseTake(op)
		b = g.pool.Lowest(pad, size)
	}
	a := &allocation{rt: rt, group: g, desc: dtype.element().Shaped(shape), dtype: dtype, shape: shape, seg: b.Segment,
		at: b.Placement, size: bytes, block: b, peers: b.Peers}
	if b.Window != 0 {
		a.windows = map[*Group]uint32{g: b.Window}
	} else {
		a.at.Data += int(memory.Within(rt.info.Guards, b.Size(), bytes)) // its end is the block's
	}
	a.id = fmt.Sprintf("%s take %d", g.key, g.pool.Takes())
	a.digest.Text(a.id)
	st := a.newStorage(b.Segment)
	for r, s := range a.peers {
		if s != nil {
			a.locate(r, s)
		}
	}
	take := g.poolCall("mem_pool_take", c.stream, dtype, n, b)
	context := take.Admit()
	if zero {
		if err := c.stream.set0(st.ptr, bytes); err != nil {
			panic(rt.failure(op, err))
		}
	}
	err := g.meetAtPool(&take, context, b, false)
	g.pool.Take(b, a.desc)
	rt.allocs = append(rt.allocs, a)
	take.issued(err)
	return &Tensor{rt: rt, st: st, dtype: dtype, shape: shape, n: n}
}

// growPool adds a block. It is collective over the group, on the host.
func (g *Group) growPool(op, kind string, pad, size int) {
	rt := g.rt
	g.meeting.Lock()
	defer g.meeting.Unlock()
	at := rt.place(pad, size)
	seg, err := rt.dev.NewSegment(at.End)
	desc := fmt.Sprintf("%s from the memory pool, in a new block of %d bytes with a signal pad of %d", kind, size, pad)
	mapped, _, err := g.share(op, desc, seg, err, func(int) device.Segment { return nil })
	if err != nil {
		if seg != nil {
			seg.Close()
		}
		panic(rt.failure(op, err))
	}
	b := memory.NewPoolBlock(pad, size, at, seg)
	for i, s := range mapped {
		if s != nil {
			b.Peers[g.ranks[i]] = s
			rt.mapped(s, at)
		}
	}
	if b.Window, err = g.windowsOf(op, desc, seg, at, size); err != nil {
		for _, s := range b.Peers {
			s.Close()
		}
		panic(rt.failure(op, err))
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	g.pool.Add(b)
}

// poolCall is the call by which all members meet at a take or free of b, on stream s.
func (g *Group) poolCall(op string, s *Stream, dtype DType, n int, b *memory.PoolBlock) Call {
	return Call{rt: g.rt, opts: options{group: g}, stream: s, Record: Record{
		Entry: calls.Entry{Made: calls.Made{Op: op, DType: dtype.element(), N: n, Detail: b.String()},
			Manner: operators.Collective}, group: g, Refused: refusedStep,
	}}
}

// meetAtPool issues the meeting of all members at a take or free of b, once c was admitted: within a
// host they compare their steps, between hosts they meet on channel 0. rt.mu is held.
func (g *Group) meetAtPool(c *Call, context abi.Context, b *memory.PoolBlock, free bool) error {
	if g.split.Spans() {
		c.Record.Far = true
		c.rt.expect(c.Record.Op, 1+int(g.wired.Links.PartnerCount))
		return c.submit("net_barrier", 0, launch.OneBlock(32), launch.Bytes(&knet.NetSignalArgs{Context: context, Group: g.wired.Links}))
	}
	args := &poolkernel.PoolMeetArgs{Context: context, Signals: g.work.Meetings}
	args.Context.Channels = uint32(g.rt.plan.MeetBlocks)
	number := g.pool.Steps()
	for i := range g.ranks {
		args.Words[i] = g.work.pool[i] + device.Ptr(number%2*layout.PoolWords/2*8)
	}
	args.Step = uint64(memory.StepOf(b, c.Record.N, uint64(c.Record.DType), free))
	return c.submit("pool_meet", 0, launch.OneBlock(32), launch.Bytes(args))
}

// freePooled returns an allocation to the pool, on the current stream.
func (a *allocation) freePooled(op string) {
	rt, g := a.rt, a.group
	c := rt.ownCall(op)
	if rt.posting.Load() { // the next use of the memory does not wait for the network
		rt.synchronize(op)
	}
	for _, s := range a.otherUsers(&c) {
		rt.raise(op, s.synchronize())
	}
	defer c.Enter().Leave()
	g.usable(op)
	rt.inStep(op)
	if !a.freed.CompareAndSwap(false, true) {
		panic(rt.misuse(op, "tensor", "", "the tensor %s was freed", a.desc))
	}
	free := g.poolCall("mem_pool_free", c.stream, U8, a.size, a.block)
	err := g.meetAtPool(&free, free.Admit(), a.block, true)
	if err == nil {
		err = c.stream.set0(a.at.PadIn(a.seg), a.at.PadBytes)
	}
	a.unlocate()
	g.pool.Free(a.block, a.desc)
	rt.allocs = slices.DeleteFunc(rt.allocs, func(o *allocation) bool { return o == a })
	for _, m := range a.mappings {
		m.tables.release()
	}
	a.mappings = nil
	free.issued(err)
}

// otherUsers picks the stream of the call c that frees a, and returns the other streams that used
// a.
func (a *allocation) otherUsers(c *Call) (list []*Stream) {
	defer c.Enter().Leave()
	c.PickStream()
	for _, s := range c.rt.streams {
		if s != c.stream && a.used&s.bit() != 0 {
			list = append(list, s)
		}
	}
	return list
}

// emptyPool empties the group's pool. Blocks in use become their tensors' own. No member may be
// communicating. rt.mu is held.
func (g *Group) emptyPool() {
	for _, a := range g.rt.allocs {
		if a.group == g && a.block != nil {
			a.block, a.alone = nil, true
		}
	}
	g.pool.Empty(func(b *memory.PoolBlock) error {
		if n := g.rt.net.Load(); n != nil && b.Window != 0 {
			return n.Forget(b.Window)
		}
		return nil
	})
}

// refusedStep explains that members took or freed different blocks.
func refusedStep(c *Record, e *Error, r *device.WaitRecord) {
	rt, mine, theirs := c.group.rt, memory.PoolStep(r.Want), memory.PoolStep(r.Seen)
	e.Kind = KindMismatch
	e.Msg = fmt.Sprintf("in the memory pool of %v rank %d %v where rank %d %v", c.group, rt.rank, mine, e.Peer, theirs)
	if mine.String() == theirs.String() {
		e.Msg += " for other elements"
	}
	e.Hint = "all ranks must call Recover, and take and free in the same order"
	rt.broken.Store(ptr(c.Op + ": " + e.Msg))
}
