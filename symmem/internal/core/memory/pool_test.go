package memory

import (
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// segment is memory that notes whether it was closed.
type segment struct {
	device.Segment
	closed bool
}

func (s *segment) Close() error {
	s.closed = true
	return nil
}

// A pool gives out the first free block of a size, and keeps what is in use when it is emptied.
func TestPool(t *testing.T) {
	var p Pool
	if p.History() != "" || p.Lowest(8, 512) != nil {
		t.Errorf("a new pool: %q, %v", p.History(), p.Lowest(8, 512))
	}
	var segments [3]segment
	for i, size := range []int{512, 512, 1024} {
		b := NewPoolBlock(8, size, Placement{}, &segments[i])
		b.Peers[0] = &segments[i]
		p.Add(b)
	}
	first := p.Lowest(8, 512)
	p.Take(first, "f32[4]")
	second := p.Lowest(8, 512)
	p.Take(second, "f32[5]")
	if first.String() != "block 0" || second.String() != "block 1" || p.Lowest(8, 512) != nil || p.Lowest(16, 1024) != nil {
		t.Errorf("taken are %v and %v", first, second)
	}
	p.Free(first, "f32[4]")
	if got := p.Lowest(8, 512); got != first {
		t.Errorf("the lowest is %v, want the freed block", got)
	}
	if got, want := p.Counts(), (PoolCounts{Blocks: 3, Taken: 1, Bytes: 2048, TakenBytes: 512, Takes: 2, Frees: 1}); got != want || p.Steps() != 3 {
		t.Errorf("counts are %+v and %d steps, want %+v", got, p.Steps(), want)
	}
	if got, want := p.History(), ", after 2 takes and 1 frees of the memory pool, the last: free f32[4] (block 0)"; got != want {
		t.Errorf("history is %q, want %q", got, want)
	}
	p.Empty(func(*PoolBlock) error { return nil })
	if !segments[0].closed || segments[1].closed || !segments[2].closed || p.Counts() != (PoolCounts{}) {
		t.Errorf("closed: %v, %v, %v; counts %+v", segments[0].closed, segments[1].closed, segments[2].closed, p.Counts())
	}
	take, free := StepOf(second, 5, 3, false), StepOf(second, 5, 3, true)
	if take.String() != "took block 1" || free.String() != "freed block 1" || take == StepOf(second, 6, 3, false) {
		t.Errorf("steps: %v, %v, %#x", take, free, uint64(take))
	}
}
