package nvshmem

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/symmem/internal/core/libraries"
	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Heap is a rank's part of the heap of NVSHMEM. With the back end NVSHMEM, symmetric tensors of the
// group of all ranks are its memory. The first of them makes all ranks members, with their rank as the
// number of the PE. All of them call nvshmem_malloc and nvshmem_free together, so the ranks meet on
// the host before, and none calls unless all do. A smaller group's tensors, memory pools and
// workspaces are the driver's memory.
//
// NVSHMEM has no way to give up a call that waits for another PE, nor to go on without a PE. A rank
// that gives such a call up cannot use the heap any more, and neither can the others from then on;
// the same holds once a rank was replaced or is gone. Their tensors stay, and other groups work.
type Heap struct {
	seam.Idle[seam.Members, seam.Memory]
	World
	joined atomic.Pointer[joined] // nil until the ranks make the heap
}

// World describes the world of a Heap.
type World struct {
	Device  device.Device
	Name    string        // of the device, in messages: "cuda:2"
	Page    *device.Watch // where waits are published
	Aborted func() bool   // all waits of this rank must end
	// Backend returns the name of the back end, and the advice for users who want NVSHMEM.
	Backend func() (name, advice string)
}

// joined is the heap that the ranks have made.
type joined struct {
	d     device.Heap
	g     seam.Members // the group of all ranks
	size  int          // of g
	name  string       // "NVSHMEM 3.4.5"
	words device.HeapSegment
	marks device.Ptr // of watch
	watch Watch
	lost  atomic.Pointer[string] // why it cannot be used any more
}

// NewHeap returns the heap of a world, of which no rank is a member yet.
func NewHeap(w World) *Heap { return &Heap{World: w} }

// Holds reports whether a segment is memory of the heap.
func Holds(s device.Segment) bool {
	_, ok := s.(device.HeapSegment)
	return ok
}

// WhyNone returns the reason why ranks in these places cannot have the heap, and what to do instead;
// "" if they can. sharing describes those that share a GPU, "" if none do.
func WhyNone(p *places.Places, sharing string) (why, hint string) {
	switch {
	case p != nil && (len(p.Parts) > 1 || p.Machines > 1):
		return fmt.Sprintf("it reaches the memory of other ranks by pointers, and the ranks %s have none to each other's",
				places.Spelled(p.Parts)),
			"use CUDA or NCCL between hosts"
	case sharing != "":
		return sharing + ", and NVSHMEM needs a GPU for each PE", "start as many ranks as there are GPUs, or use CUDA"
	}
	return "", ""
}

// kind is NVSHMEM as a library that ranks join.
var kind = libraries.Kind{Name: "NVSHMEM", Where: "for all ranks",
	Without: "start the session again, or make tensors of another group than world, whose memory is the driver's"}

// meet lets all ranks meet before they call NVSHMEM for desc. It returns the heap, or if there is none
// yet the library and the ID by which all make it. The caller holds the lock of g, which is all ranks.
func (h *Heap) meet(g seam.Members, op, desc string) (j *joined, library device.Heaps, id []byte, err error) {
	var mine libraries.Member
	if j = h.joined.Load(); j != nil {
		mine.Joined, mine.Lost = true, j.whyLost()
	} else {
		library, mine, err = libraries.Open(func() (device.Heaps, error) {
			return h.Device.(device.HeapDevice).Heaps(Environment())
		}, g.Rank() == 0)
	}
	id, err = kind.Meet(g, op, desc+" of NVSHMEM's heap", mine, err)
	return j, library, id, err
}

// join makes this rank a member of the heap that all ranks make. If one cannot, none can use it.
func (h *Heap) join(g seam.Members, op string, library device.Heaps, id []byte) (*joined, error) {
	j := &joined{g: g, size: len(g.Ranks()), name: library.Name()}
	ctx, cancel := context.WithTimeout(g.Context(), libraries.Limit)
	defer cancel()
	done := g.Waiting(op)
	var err error
	if j.d, err = library.Join(ctx, id, g.Rank(), j.size); err == nil {
		if j.words, err = j.d.NewSegment(ctx, 8*wordRows*g.Channels()*j.size); err == nil {
			j.marks, err = h.Device.Alloc(4 * Streams)
		}
	}
	done()
	err = kind.Late(err, j.name, g.String())
	if _, err = seam.Gather(g, op, "joined", struct{}{}, err); err != nil {
		j.lose("its heap was not made: " + err.Error())
	}
	j.watch.Open(Setting{Device: h.Device, Page: h.Page, Words: j.marks, Aborted: h.Aborted})
	h.joined.Store(j)
	return j, err
}

// Segment returns memory of the heap for desc. All ranks call it; the caller holds the lock of g, which
// is all ranks.
func (h *Heap) Segment(g seam.Members, op, desc string, n int) (device.Segment, error) {
	j, library, id, err := h.meet(g, op, desc)
	if err == nil && j == nil {
		j, err = h.join(g, op, library, id)
	}
	if err != nil {
		return nil, err
	}
	var seg device.Segment
	err = j.together("nvshmem_malloc", func(ctx context.Context) (err error) {
		seg, err = j.d.NewSegment(ctx, n)
		return err
	})
	return seg, err
}

// together calls NVSHMEM by f, as all ranks do. If the call is given up, the heap is lost.
func (j *joined) together(function string, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(j.g.Context(), libraries.Ending)
	defer cancel()
	err := f(ctx)
	if err != nil && ctx.Err() != nil {
		j.lose(fmt.Sprintf("rank %d gave %s up", j.g.Rank(), function))
	}
	return err
}

// lose notes why the heap cannot be used any more.
func (j *joined) lose(why string) { j.lost.CompareAndSwap(nil, &why) }

// whyLost returns the reason why the heap cannot be used any more, "" if it can.
func (j *joined) whyLost() string {
	if why := j.lost.Load(); why != nil {
		return *why
	}
	return ""
}

// Drained implements seam.Part. A watch that saw a wait before its peer ended it could otherwise give it
// up after the records of waits were cleared.
func (h *Heap) Drained() {
	if j := h.joined.Load(); j != nil {
		j.watch.Forget()
	}
}

// Settle implements seam.Part: the heap is lost with one of its ranks.
func (h *Heap) Settle(l seam.Loss) error {
	if j := h.joined.Load(); j != nil {
		if why, _ := l.Of(j.g.Ranks()); why != "" {
			j.lose(why)
		}
	}
	return nil
}

// Clear implements seam.Part: it makes the words zero by which ranks signal.
func (h *Heap) Clear(s device.Stream) error {
	if j := h.joined.Load(); j != nil && j.words != nil {
		return s.Set(j.words.Ptr(), 0, j.words.Size())
	}
	return nil
}

// DropMemory implements seam.Part: it gives memory back to the heap. All ranks call it. The memory of a
// heap that a rank cannot use any more stays until the processes end.
func (h *Heap) DropMemory(op string, m seam.Memory) error {
	seg, ok := m.Segment().(device.HeapSegment)
	if !ok || m.Stale() {
		return nil
	}
	j := h.joined.Load()
	if j == nil {
		return nil
	}
	j.g.Lock()
	_, _, _, err := h.meet(j.g, op, m.ID())
	j.g.Unlock()
	if j.g.Absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return j.together("nvshmem_free", seg.Free)
}

// Close implements seam.Part. It leaves the heap, if all ranks come for it soon; otherwise the end of the
// process does.
func (h *Heap) Close() error {
	j := h.joined.Swap(nil)
	if j == nil {
		return nil
	}
	j.watch.Forget()
	if j.marks != 0 {
		h.Device.Free(j.marks) // no caller is left for its error
	}
	if j.whyLost() != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), libraries.Parting)
	defer cancel()
	if j.g.Part(ctx, "leaves the heap") == nil {
		j.d.Close(ctx)
	}
	return nil
}

// wordRows is the number of rows of words in the heap: each has a word for each channel and rank, by
// which that rank signals this one.
const (
	barrierRow = iota
	signalRow
	wordRows
)

// word is the word of a row by which a rank signals on a channel.
func (j *joined) word(row, channel, rank int) device.Ptr {
	return j.words.Ptr() + device.Ptr(8*((row*j.g.Channels()+channel)*j.size+rank))
}
