package memory

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Block is a piece of ordinary memory, a device's or pinned memory of the host, that was handed out
// for use on a stream, an S. It outlives the tensors in it.
type Block[S comparable] struct {
	Ptr    device.Ptr
	Host   []byte // the mapping of pinned memory; nil for memory of the device
	Size   int
	Stream S
	Used   uint64 // other streams that touched it, a bit each
	Posted bool   // kernels that post operations for other hosts got it
}

// Alone reports whether the block was used on its own stream only.
func (b *Block[S]) Alone() bool { return b.Used == 0 && !b.Posted }

// Cache keeps ordinary device memory between uses, so that an eager operation does not call the
// driver for its result. A block goes back to the stream it was handed out on, where later work
// comes after all of its uses; if other streams touched it too, only when these are idle, and if
// operations for other hosts may use it, when these are over. Its methods may be called from
// several goroutines.
type Cache[S comparable] struct {
	// Rests reports whether a block that several streams have used is no longer in use. Home
	// returns the stream to which a block of a stream goes back: another one, if the stream was
	// closed. Both are called with the cache locked.
	Rests func(*Block[S]) bool
	Home  func(S) S

	mu      sync.Mutex
	free    map[bin[S]][]*Block[S]
	limbo   []*Block[S]  // used by others, which may still be busy
	handed  int          // bytes given out since the garbage collector last ran for us
	total   int          // bytes taken from the device and not given back
	dropped atomic.Int64 // blocks returned so far, to see the collector's progress
}

// bin is the key of the blocks of one size and stream.
type bin[S comparable] struct {
	size   int
	stream S
}

const (
	smallestBlock = 512
	powersUpTo    = 1 << 20
	collectWait   = 20 * time.Millisecond
	collectQuiet  = 2 * time.Millisecond
)

// BlockSize rounds a size up to one that is likely to be asked for again.
func BlockSize(n int) int {
	switch {
	case n <= smallestBlock:
		return smallestBlock
	case n <= powersUpTo:
		return 1 << bits.Len(uint(n-1))
	}
	return (n + powersUpTo - 1) &^ (powersUpTo - 1)
}

// Take returns a block of a size, which BlockSize gave, for use on a stream; nil if there is none.
func (c *Cache[S]) Take(size int, on S) *Block[S] {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := bin[S]{size, on}
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
	c.handed += b.Size
	return b
}

// Add counts a block that was made of new memory, for use on a stream, and returns it.
func (c *Cache[S]) Add(b *Block[S]) *Block[S] {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handed += b.Size
	c.total += b.Size
	return b
}

// Give takes a block back.
func (c *Cache[S]) Give(b *Block[S]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b.Alone() {
		c.put(b)
	} else {
		c.limbo = append(c.limbo, b)
	}
	c.dropped.Add(1)
}

// put makes a block available. c.mu is held.
func (c *Cache[S]) put(b *Block[S]) {
	if c.free == nil {
		c.free = map[bin[S]][]*Block[S]{}
	}
	b.Stream = c.Home(b.Stream)
	at := bin[S]{b.Size, b.Stream}
	c.free[at] = append(c.free[at], b)
}

// reclaim makes the blocks of limbo available that are at rest. c.mu is held.
func (c *Cache[S]) reclaim() {
	rest := c.limbo[:0]
	for _, b := range c.limbo {
		if c.Rests(b) {
			b.Used, b.Posted = 0, false
			c.put(b)
		} else {
			rest = append(rest, b)
		}
	}
	clear(c.limbo[len(rest):])
	c.limbo = rest
}

// Held is the bytes taken from the device and not given back, tensors included.
func (c *Cache[S]) Held() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// Handed is the bytes given out since Collect ran.
func (c *Cache[S]) Handed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.handed
}

// Noticed counts memory that is no block of the cache and that the garbage collector has found.
func (c *Cache[S]) Noticed() { c.dropped.Add(1) }

// Collect runs the garbage collector and gives the blocks it finds a moment to come back. The
// collector does not see device memory, so it would not run by itself.
func (c *Cache[S]) Collect() {
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

// Abandon moves the blocks of a closed stream without work to their new home.
func (c *Cache[S]) Abandon(s S) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for at, list := range c.free {
		if at.stream == s {
			delete(c.free, at)
			for _, b := range list {
				c.put(b)
			}
		}
	}
}

// Trim gives all available blocks back, by free.
func (c *Cache[S]) Trim(free func(*Block[S])) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reclaim()
	for at, list := range c.free {
		for _, b := range list {
			free(b)
			c.total -= b.Size
		}
		delete(c.free, at)
	}
}
