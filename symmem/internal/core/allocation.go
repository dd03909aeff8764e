package symmem

import (
	"fmt"
	"sync/atomic"
	"weak"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/core/calls"
	"github.com/symmrepl/symmrepl/symmem/internal/core/memory"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// allocation is symmetric memory: one segment in each member of a group, [signal pad | data].
type allocation struct {
	rt     *Runtime
	group  *Group
	id     string       // equal on all members and never used again: ranks compare it
	digest calls.Digest // of id
	desc   string       // "bf16[4096]"
	dtype  DType
	shape  []int
	seg    device.Segment
	at     memory.Placement
	size   int // bytes of data
	freed  atomic.Bool
	unheld atomic.Bool            // no tensor and no handle of it is left in this rank's program
	shown  atomic.Bool            // the program has got an address of it
	stale  atomic.Pointer[string] // why peers cannot be reached any more
	block  *memory.PoolBlock      // of the memory pool to which it goes back, or nil
	lent   bool                   // by another program: FromTorch

	// Guarded by rt.mu.
	peers      map[int]device.Segment // by world rank, as far as mapped
	mappings   []*mapping
	windows    map[*Group]uint32 // the id of the data's, by group that spans hosts; the pad's is the next one
	used       uint64            // streams that touched memory of a pool, a bit each
	multicasts map[*Group]*multicasting
	stands     bool // for ordinary tensors: its group frees it
	lasts      bool // until Free, whoever holds it
	rests      bool // nothing holds it, and no work of this rank uses it
	alone      bool // its pool was emptied, or it is lent: it is freed without the other members
}

// usable refuses an operation on the peers' parts of an allocation that was freed or has lost a
// part.
func (a *allocation) usable(op string) {
	a.rt.refuseClosed(op)
	if a.freed.Load() {
		panic(a.rt.misuse(op, "tensor", "", "the tensor %s was freed", a.desc))
	}
	if why := a.stale.Load(); why != nil {
		panic(&Error{Kind: KindPeer, Op: op, Rank: a.rt.rank, Peer: -1, Arg: "tensor",
			Msg:  fmt.Sprintf("the symmetric tensor %s lost a part: %s", a.desc, *why),
			Hint: "its own data can still be read; " + a.rt.goingOn("make a new one by Empty")})
	}
}

// mapping is a group's record of a tensor that it has mapped. The allocation keeps the mapping, and
// the mapping refers to no Tensor. So a member that has dropped both handle and tensor, and gets
// the tensor again, gets a handle without the other members, as do members that still hold one.
type mapping struct {
	a      *allocation
	g      *Group
	offset int // of the tensor, in bytes
	dtype  DType
	shape  []int
	kernel abi.Handle           // the argument of kernels, without the words of the call
	handle weak.Pointer[Handle] // guarded by rt.mu

	// By group rank, 0 for members on other hosts.
	base    []device.Ptr // where the data of the allocation begins
	buffers []device.Ptr // the tensor
	pads    []device.Ptr
	all     device.Ptr // the tensor of all members at once, by multicast; 0 without
	tables  tables

	windowed bool // each communicator of NCCL has a window of it; guarded by rt.mu
}

// tables are the arrays of pointers in device memory, made when first asked for.
type tables struct {
	t      *Tensor
	window *Tensor // an abi.NcclWindow

	multicast device.Ptr // the address that the device emulates, or 0
}

func (t *tables) release() {
	if m := t.multicast; m != 0 {
		t.window.rt.dev.(device.Multicaster).EndMulticast(m) // fails only for an address that is none
	}
	for _, t := range []*Tensor{t.t, t.window} {
		if t != nil {
			t.giveBack()
		}
	}
}

// multicasting is the multicast address of an allocation in a group.
type multicasting struct {
	m   device.Multicast // nil if there is none
	ptr device.Ptr       // stands for the beginning of the segments
	why string           // there is none
}
