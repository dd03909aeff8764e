package symmem

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/symmrepl/symmrepl/symmem/internal/core/memory"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Lent is a tensor of another program of this host, in memory that the program shares. The memory is
// [signal pad | data of an allocation], and the tensor a part of the data.
type Lent struct {
	Memory      *os.File // sealed against shrinking; the world closes it
	Size        int      // bytes of the memory
	Pad         int      // bytes of the signal pad
	Data, Bytes int      // where the data begins, and its bytes
	Offset      int      // of the tensor in the data, in bytes
	DType       DType
	Shape       []int
}

// lender returns a tensor of another program by its name.
type lender func(ctx context.Context, name string) (Lent, error)

// check refuses a tensor that does not lie in its memory.
func (l *Lent) check(rt *Runtime, op string) error {
	return Maybe(func() {
		size := rt.numel(op, l.DType, l.Shape) * l.DType.Size()
		if l.Pad < 0 || l.Data < l.Pad || l.Bytes < 0 || l.Data > l.Size-l.Bytes || l.Offset < 0 || size > l.Bytes-l.Offset ||
			l.Offset%l.DType.Size() != 0 {
			panic(rt.misuse(op, "", "", "the program describes a tensor %s that is not in its memory of %d bytes",
				l.DType.element().Shaped(l.Shape), l.Size))
		}
	})
}

// lentKind holds the properties of a tensor that must be equal on all members.
type lentKind struct {
	DType             DType
	Shape             []int
	Pad, Bytes, Start int
}

func (l *Lent) kind() lentKind {
	return lentKind{DType: l.DType, Shape: l.Shape, Pad: l.Pad, Bytes: l.Bytes, Start: l.Offset}
}

func (k lentKind) String() string {
	return fmt.Sprintf("%s at byte %d of %d, with a signal pad of %d bytes", k.DType.element().Shaped(k.Shape), k.Start, k.Bytes, k.Pad)
}

// FromTorch returns a tensor of the program of PyTorch to which the session is attached, by its name in
// the lines at which the ranks of the program stand, as a view of the same memory: what either side
// writes is seen by both. Rank 0 of the session sees rank 0's tensor, and so on. It is symmetric:
// Rendezvous gives a handle of all ranks' copies, whose signal pad is the one that the program uses. A
// part is named as Python does, as in "self.buf" or "bufs[0]". It is collective over all ranks.
//
// The memory stays as long as the view, also if the program goes on, uses it for something else, or
// ends. Free ends the view alone.
//
// Errors: KindMisuse without such a program, on another device than the cpu device, and for a name
// that the program does not have, or that is no contiguous tensor in symmetric memory; KindMismatch if
// the ranks' tensors differ; KindPeer if another rank has none.
func (rt *Runtime) FromTorch(name string) *Tensor { return rt.all.FromTorch(name) }

// FromTorch is [Runtime.FromTorch] for the members of a group.
func (g *Group) FromTorch(name string) *Tensor {
	const op = "FromTorch"
	g.exists(op)
	rt := g.rt
	rt.hostCall(op)
	g.usable(op)
	adopter, ok := rt.dev.(device.Adopter)
	if rt.lend == nil || !ok {
		panic(rt.misuse(op, "", "start one by symmrepl torchrun, and attach to it while it stands: symmrepl attach",
			"this session is attached to no program of PyTorch"))
	}
	g.meeting.Lock()
	defer g.meeting.Unlock()
	l, seg, failed := rt.borrow(op, name, adopter)
	said, err := gatherValues(g, op, strconv.Quote(name), l.kind(), failed)
	if err == nil {
		err = rt.compareLent(op, name, g, said)
	}
	if err != nil {
		if seg != nil {
			seg.Close()
		}
		if refused := (*notLent)(nil); errors.As(err, &refused) {
			panic(rt.misuse(op, "name", "`:vars` lists the tensors of the program", "%v", refused.error))
		}
		panic(rt.failure(op, err))
	}
	return rt.makes(g.viewOf(l, seg))
}

// notLent is the reason why the program does not lend a tensor.
type notLent struct{ error }

// borrow asks the program for a tensor and maps its memory.
func (rt *Runtime) borrow(op, name string, adopter device.Adopter) (l Lent, seg device.Segment, err error) {
	if l, err = rt.lend(rt.host(), name); errors.Is(err, context.Canceled) {
		return l, nil, err
	} else if err != nil {
		return l, nil, &notLent{err}
	}
	defer l.Memory.Close()
	if err = l.check(rt, op); err != nil {
		return l, nil, err
	}
	seg, err = memory.Import(l.Memory, func(fd int) (device.Segment, error) { return adopter.AdoptSegment(fd, l.Size) })
	return l, seg, err
}

// compareLent refuses tensors that differ between the members.
func (rt *Runtime) compareLent(op, name string, g *Group, said []lentKind) error {
	for i, k := range said {
		if k.String() != said[0].String() {
			return &Error{Kind: KindMismatch, Op: op, Rank: rt.rank, Peer: g.ranks[i], Arg: "name",
				Msg:  fmt.Sprintf("%s is %v on rank %d, and %v on rank %d", name, said[0], g.ranks[0], k, g.ranks[i]),
				Hint: "take tensors that are equal on all ranks of the group"}
		}
	}
	return nil
}

// viewOf makes the allocation and the tensor over lent memory.
func (g *Group) viewOf(l Lent, seg device.Segment) *Tensor {
	rt := g.rt
	n := rt.numel("", l.DType, l.Shape)
	a := &allocation{rt: rt, group: g, dtype: l.DType, shape: slices.Clone(l.Shape), size: l.Bytes, lent: true, alone: true, seg: seg,
		at: memory.Placement{PadBytes: l.Pad, Data: l.Data, End: l.Size}, peers: map[int]device.Segment{rt.rank: seg}}
	if n*l.DType.Size() != l.Bytes {
		a.dtype, a.shape = U8, []int{l.Bytes}
	}
	a.desc = a.dtype.element().Shaped(a.shape)
	g.collect(a.at)
	g.unused("FromTorch") // views that nobody holds are ended
	rt.mu.Lock()
	defer rt.mu.Unlock()
	st := a.begin()
	return &Tensor{rt: rt, st: st, dtype: l.DType, shape: slices.Clone(l.Shape), offset: l.Offset, n: n}
}
