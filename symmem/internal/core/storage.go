package symmem

import (
	"errors"
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/symmem/internal/core/memory"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// storage is a piece of device memory that tensors are views of.
type storage struct {
	ptr   device.Ptr
	size  int
	block *block          // of the cache: ordinary memory
	alloc *allocation     // symmetric memory, this rank's or a peer's
	own   *storage        // of a part of it, or of a peer's: the storage that Empty returned, which lives as long
	peer  int             // the world rank that owns it
	freed atomic.Bool     // of a block
	stop  runtime.Cleanup // of block
}

// isFreed reports whether the memory was freed.
func (st *storage) isFreed() bool {
	return st.freed.Load() || st.alloc != nil && st.alloc.freed.Load()
}

// block is a piece of ordinary memory: see memory.Cache, of which a world has one for memory of the
// device and one for pinned memory of the host.
type block = memory.Block[*Stream]

// collectShare divides the device's memory: after so much was handed out, the garbage collector
// runs before more is taken.
const collectShare = 64

// newCache returns the cache of a world.
func (rt *Runtime) newCache() *memory.Cache[*Stream] {
	return &memory.Cache[*Stream]{
		Rests: func(b *block) bool {
			used := b.Used
			if b.Posted {
				used |= b.Stream.bit()
			}
			return rt.idle(used) && (!b.Posted || rt.flushed())
		},
		Home: func(s *Stream) *Stream {
			if s.retired.Load() {
				return rt.first
			}
			return s
		},
	}
}

// take returns memory of n bytes for use on s, from the cache if possible. rt.mu is held.
func (rt *Runtime) take(op string, s *Stream, n int) *block {
	return rt.takeFrom(op, rt.local, memory.BlockSize(n), s, func(size int) (*block, error) {
		p, err := rt.dev.Alloc(size)
		return &block{Ptr: p, Size: size, Stream: s}, err
	})
}

// takeFrom is take of a block of a size from a cache. make makes a new one.
func (rt *Runtime) takeFrom(op string, c *memory.Cache[*Stream], size int, s *Stream, make func(size int) (*block, error)) *block {
	rt.refuseTake(op)
	b := c.Take(size, s)
	if b == nil && c.Handed() > int(rt.info.Memory/collectShare) {
		c.Collect()
		b = c.Take(size, s)
	}
	if b != nil {
		rt.mark(s, b.Ptr, b.Size, device.MemoryDefined)
		return b
	}
	b, err := make(size)
	if errors.Is(err, device.ErrOutOfMemory) {
		c.Collect()
		rt.trim()
		b, err = make(size)
	}
	if err != nil {
		panic(rt.failure(op, err))
	}
	rt.located.Renew(b.Ptr, size, os.Getpagesize())
	return c.Add(b)
}

// refuseTake refuses to allocate memory during a capture. rt.mu is held.
func (rt *Runtime) refuseTake(op string) {
	if rt.capture != nil {
		panic(rt.misuse(op, "", "make the tensor before the capture, and use the Out form of an operation, or its option Into",
			"memory cannot be allocated while a graph is captured"))
	}
}

// giveBlock returns a block to its cache; the garbage collector does so, too. freer is the place of
// the program's call that frees it, as Config.Caller said; 0 if there is none.
func (rt *Runtime) giveBlock(b *block, freer int) {
	rt.located.Free(b.Ptr, freer)
	if b.Alone() {
		rt.mark(b.Stream, b.Ptr, b.Size, device.MemoryFreed)
	}
	if b.Host != nil {
		rt.pinned.Give(b)
		return
	}
	rt.local.Give(b)
}

// trim gives all cached blocks back. rt.mu is held.
func (rt *Runtime) trim() {
	for _, s := range rt.streams {
		if err := s.synchronize(); err != nil && rt.unreported == nil {
			rt.unreported = err
		}
	}
	rt.local.Trim(func(b *block) {
		rt.located.Forget(b.Ptr)
		rt.dev.Free(b.Ptr)
	})
	rt.pinned.Trim(rt.unpin)
}

// newStorage makes n bytes of a block the memory of tensors, which the garbage collector may
// return.
func (rt *Runtime) newStorage(b *block, n int) *storage {
	st := &storage{ptr: b.Ptr + memory.Within(rt.info.Guards, b.Size, n), size: n, block: b, peer: rt.rank}
	st.stop = runtime.AddCleanup(st, func(b *block) { b.Stream.rt.giveBlock(b, 0) }, b)
	return st
}

// held is the bytes of tensors, of memory kept for the next ones, and of groups.
func (rt *Runtime) held() int {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	n := rt.local.Held() + rt.pinned.Held()
	for _, a := range rt.allocs {
		n += a.seg.Size()
	}
	for _, g := range rt.groups {
		for _, s := range g.spares.list {
			n += s.a.seg.Size()
		}
		if g.work.seg != nil {
			n += g.work.seg.Size()
		}
		for _, b := range g.work.boxes {
			n += b.size
		}
	}
	return n
}

// hostPage is the unit of pinned memory.
const hostPage = 1 << 16

// pin makes a block of memory of the host that the device can access.
func (rt *Runtime) pin(size int, s *Stream) (*block, error) {
	host, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, errors.Join(device.ErrOutOfMemory, err)
	}
	p, err := rt.dev.MapHost(unsafe.Pointer(&host[0]), size)
	if err != nil {
		unix.Munmap(host)
		return nil, err
	}
	return &block{Ptr: p, Host: host, Size: size, Stream: s}, nil
}

// unpin gives a block of pin back.
func (rt *Runtime) unpin(b *block) {
	rt.located.Forget(b.Ptr)
	if rt.dev.UnmapHost(unsafe.Pointer(&b.Host[0])) == nil { // else the device may still use it
		unix.Munmap(b.Host)
	}
}
