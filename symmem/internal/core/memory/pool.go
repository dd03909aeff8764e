package memory

import (
	"fmt"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Pool keeps the symmetric memory of a group's freed tensors, mapped by all members. Its state is
// equal on all members as long as they take and free in the same order; they compare their steps on
// the device. A Pool has no lock: its owner's guards it.
type Pool struct {
	blocks       []*PoolBlock // in the order in which they were made; never split
	takes, frees uint64
	last         string // the latest step
}

// PoolBlock is a segment in each member of a group, [signal pad | data].
type PoolBlock struct {
	Placement Placement
	Segment   device.Segment
	Peers     map[int]device.Segment // by world rank, Segment among them, as far as mapped
	Window    uint32                 // the id of the data's between hosts, and the pad's is the next one; 0 without
	pad, size int                    // bytes of the signal pad and for data
	index     int                    // among the pool's
	taken     bool
}

// NewPoolBlock returns a block with a signal pad and data of so many bytes. Its memory is the
// caller's to map.
func NewPoolBlock(pad, size int, at Placement, s device.Segment) *PoolBlock {
	return &PoolBlock{Placement: at, Segment: s, Peers: map[int]device.Segment{}, pad: pad, size: size}
}

// Size is the bytes that the block has for data.
func (b *PoolBlock) Size() int { return b.size }

// String is "block 3".
func (b *PoolBlock) String() string { return fmt.Sprintf("block %d", b.index) }

// PoolCounts sums up a pool.
type PoolCounts struct {
	Blocks, Taken     int // made so far, and of these in use
	Bytes, TakenBytes int // of their data
	Takes, Frees      uint64
}

// Counts sums up the pool.
func (p *Pool) Counts() PoolCounts {
	c := PoolCounts{Blocks: len(p.blocks), Takes: p.takes, Frees: p.frees}
	for _, b := range p.blocks {
		c.Bytes += b.size
		if b.taken {
			c.Taken++
			c.TakenBytes += b.size
		}
	}
	return c
}

// Blocks lists the blocks, in the order in which they were made.
func (p *Pool) Blocks() []*PoolBlock { return p.blocks }

// Lowest returns the first free block of a size, or nil.
func (p *Pool) Lowest(pad, size int) *PoolBlock {
	for _, b := range p.blocks {
		if !b.taken && b.pad == pad && b.size == size {
			return b
		}
	}
	return nil
}

// Add adds a new block.
func (p *Pool) Add(b *PoolBlock) {
	b.index = len(p.blocks)
	p.blocks = append(p.blocks, b)
}

// Takes is the number of takes so far.
func (p *Pool) Takes() uint64 { return p.takes }

// Steps is the number of takes and frees so far.
func (p *Pool) Steps() uint64 { return p.takes + p.frees }

// Take gives a free block out, for the tensor that desc describes.
func (p *Pool) Take(b *PoolBlock, desc string) {
	b.taken = true
	p.takes++
	p.last = fmt.Sprintf("take %s (%v)", desc, b)
}

// Free takes a block back.
func (p *Pool) Free(b *PoolBlock, desc string) {
	b.taken = false
	p.frees++
	p.last = fmt.Sprintf("free %s (%v)", desc, b)
}

// Empty gives the memory of free blocks back and forgets all blocks: those in use are their
// tensors' own from now on. conceal ends a block's windows; the memory stays if it cannot.
func (p *Pool) Empty(conceal func(*PoolBlock) error) {
	for _, b := range p.blocks {
		if !b.taken && conceal(b) == nil {
			for _, s := range b.Peers {
				s.Close() // a failure leaves memory mapped until the process ends and is no reason to fail
			}
		}
	}
	*p = Pool{}
}

// History distinguishes states of the pool, for the comparison of host-synchronous calls. It is
// empty for an unused pool.
func (p *Pool) History() string {
	if p.takes == 0 {
		return ""
	}
	return fmt.Sprintf(", after %d takes and %d frees of the memory pool, the last: %s", p.takes, p.frees, p.last)
}

// PoolStep is a take or a free as members compare it: whether it is a free, the block, and a digest
// of the elements.
type PoolStep uint64

// StepOf is the take or free of a block for n elements of a type.
func StepOf(b *PoolBlock, n int, dtype uint64, free bool) PoolStep {
	step := uint64(b.index+1)<<32 | (uint64(n)*31+dtype)&(1<<32-1)
	if free {
		step |= 1 << 63
	}
	return PoolStep(step)
}

// String is "took block 3".
func (p PoolStep) String() string {
	block := uint64(p)<<1>>33 - 1
	if p>>63 == 1 {
		return fmt.Sprintf("freed block %d", block)
	}
	return fmt.Sprintf("took block %d", block)
}
