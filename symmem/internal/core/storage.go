package symmem

import (
	"errors"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// storage is a piece of device memory that tensors are views of.
type storage struct {
	ptr   device.Ptr
	size  int
	block *block      // of the cache: ordinary memory
	alloc *allocation // symmetric memory, this rank's or a peer's
	peer  int         // whose, as a world rank
	freed atomic.Bool
	stop  runtime.Cleanup // of block
}

// block is a piece of ordinary device memory. It outlives the tensors made of it.
type block struct {
	ptr    device.Ptr
	size   int
	stream *Stream // that it was handed out on
	used   uint64  // other streams that touched it, a bit each
	posted bool    // kernels got it that post operations for other hosts
}

// cache keeps ordinary device memory between uses, so that an eager operation does not call the driver for
// its result. A block goes back to the stream it was handed out on, where later work comes after all of its
// uses; if other streams touched it too, only when these are idle, and if operations for other hosts may use it, when these are over. It comes back from Free or from the
// garbage collector.
type cache struct {
	mu      sync.Mutex // the collector's goroutine returns blocks too
	free    map[bin][]*block
	limbo   []*block     // touched by streams that may still be busy
	handed  int          // bytes given out since the garbage collector last ran for us
	total   int          // bytes taken from the device and not given back
	dropped atomic.Int64 // blocks returned so far, to see the collector's progress
}

// bin is where blocks of one size and stream wait.
type bin struct {
	size   int
	stream *Stream
}

const (
	smallestBlock = 512
	powersUpTo    = 1 << 20
	collectShare  = 64 // of the device's memory: given out, it is worth looking for garbage before taking more
	collectWait   = 20 * time.Millisecond
	collectQuiet  = 2 * time.Millisecond
)

// blockSize rounds a size up to one that is likely to be asked for again.
func blockSize(n int) int {
	switch {
	case n <= smallestBlock:
		return smallestBlock
	case n <= powersUpTo:
		return 1 << bits.Len(uint(n-1))
	}
	return (n + powersUpTo - 1) &^ (powersUpTo - 1)
}

// take returns memory of n bytes for use on s, from the cache if possible. rt.mu is held.
func (rt *Runtime) take(op string, s *Stream, n int) *block {
	rt.refuseTake(op)
	size := blockSize(n)
	c := &rt.local
	if b := c.pop(bin{size, s}); b != nil {
		rt.mark(s, b.ptr, b.size, device.MemoryDefined)
		return b
	}
	c.mu.Lock()
	collect := c.handed > int(rt.info.Memory/collectShare)
	c.mu.Unlock()
	if collect {
		c.collect()
		if b := c.pop(bin{size, s}); b != nil {
			rt.mark(s, b.ptr, b.size, device.MemoryDefined)
			return b
		}
	}
	p, err := rt.dev.Alloc(size)
	if errors.Is(err, device.ErrOutOfMemory) {
		c.collect()
		rt.trim()
		p, err = rt.dev.Alloc(size)
	}
	if err != nil {
		panic(rt.failure(op, err))
	}
	rt.located.renew(p, size)
	c.mu.Lock()
	c.handed += size
	c.total += size
	c.mu.Unlock()
	return &block{ptr: p, size: size, stream: s}
}

// refuseTake refuses memory for what is being captured. rt.mu is held.
func (rt *Runtime) refuseTake(op string) {
	if rt.capture != nil {
		panic(rt.misuse(op, "", "make the tensor before the capture, and use the Out form of an operation", "memory cannot be allocated while a graph is captured"))
	}
}

func (c *cache) pop(at bin) *block {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.free[at]
	if len(list) == 0 && len(c.limbo) > 0 {
		c.reclaim()
		list = c.free[at]
	}
	n := len(list)
	if n == 0 {
		return nil
	}
	b := list[n-1]
	c.free[at] = list[:n-1]
	c.handed += b.size
	return b
}

// give returns a block to the cache it came from.
func (b *block) give() { b.stream.rt.giveBlock(b, 0) }

// giveBlock is give by a call of the program, at a place that Config.Caller said.
func (rt *Runtime) giveBlock(b *block, freer int) {
	rt.located.freed(b.ptr, freer)
	if b.used == 0 && !b.posted {
		rt.mark(b.stream, b.ptr, b.size, device.MemoryFreed)
	}
	rt.local.give(b)
}

// give takes a block back.
func (c *cache) give(b *block) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b.used != 0 || b.posted {
		c.limbo = append(c.limbo, b)
	} else {
		c.put(b)
	}
	c.dropped.Add(1)
}

func (c *cache) put(b *block) {
	if c.free == nil {
		c.free = map[bin][]*block{}
	}
	if b.stream.retired {
		b.stream = b.stream.rt.first
	}
	at := bin{b.size, b.stream}
	c.free[at] = append(c.free[at], b)
}

func (c *cache) held() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// reclaim frees the blocks in limbo whose streams have come to rest, and with them the network. c.mu is held.
func (c *cache) reclaim() {
	rest := c.limbo[:0]
	for _, b := range c.limbo {
		rt, used := b.stream.rt, b.used
		if b.posted {
			used |= 1 << (b.stream.id % 64)
		}
		if rt.idle(used) && (!b.posted || rt.flushed()) {
			b.used, b.posted = 0, false
			c.put(b)
		} else {
			rest = append(rest, b)
		}
	}
	clear(c.limbo[len(rest):])
	c.limbo = rest
}

// collect runs the garbage collector and gives the blocks it finds a moment to come back. The collector does
// not see device memory, so it would not run by itself.
func (c *cache) collect() {
	runtime.GC()
	before, start := c.dropped.Load(), time.Now()
	for quiet := start; time.Since(start) < collectWait && time.Since(quiet) < collectQuiet; time.Sleep(100 * time.Microsecond) {
		if n := c.dropped.Load(); n != before {
			before, quiet = n, time.Now()
		}
	}
	c.mu.Lock()
	c.handed = 0
	c.mu.Unlock()
}

// abandon moves the blocks of a stream that was closed, with nothing left to do, to the first one.
func (c *cache) abandon(s *Stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.retired = true
	for at, list := range c.free {
		if at.stream == s {
			delete(c.free, at)
			for _, b := range list {
				c.put(b)
			}
		}
	}
}

// trim gives all cached blocks back to the device. rt.mu is held.
func (rt *Runtime) trim() {
	for _, s := range rt.streams {
		if err := s.synchronize(); err != nil && rt.unreported == nil {
			rt.unreported = err
		}
	}
	c := &rt.local
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reclaim()
	for at, list := range c.free {
		for _, b := range list {
			rt.located.forget(b.ptr)
			rt.dev.Free(b.ptr)
			c.total -= b.size
		}
		delete(c.free, at)
	}
}

// newStorage makes n bytes of a block the memory of tensors, which the garbage collector may return.
func (rt *Runtime) newStorage(b *block, n int) *storage {
	st := &storage{ptr: b.ptr + rt.within(b.size, n), size: n, block: b, peer: rt.rank}
	st.stop = runtime.AddCleanup(st, (*block).give, b)
	return st
}

// held is the bytes of tensors, of memory kept for the next ones, and of groups.
func (rt *Runtime) held() int {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	n := rt.local.held()
	for _, a := range rt.allocs {
		n += a.seg.Size()
	}
	for _, g := range rt.groups {
		if g.work.seg != nil {
			n += g.work.seg.Size()
		}
	}
	return n
}
