package symmem

import (
	"context"
	"errors"
	"fmt"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/symmem/internal/core/libraries"
	"github.com/symmrepl/symmrepl/symmem/internal/core/nvshmem"
	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// The heap of NVSHMEM
//
// With the back end NVSHMEM, symmetric tensors of the group of all ranks are memory of NVSHMEM's
// heap. The first Empty makes all ranks members of it, with their rank as the number of the PE. All
// of them call nvshmem_malloc and nvshmem_free together, so the ranks meet on the host before, and
// none calls unless all do. A smaller group's tensors, memory pools and workspaces are the driver's
// memory.
//
// NVSHMEM has no way to give up a call that waits for another PE, nor to go on without a PE. A rank
// that gives such a call up cannot use the heap any more, and neither can the others from then on;
// the same holds once a rank was replaced or is gone. Their tensors stay, and other groups work.

// nvshmemBackend is the back end whose tensors are memory of the heap.
const nvshmemBackend = "NVSHMEM"

// heap is this rank's part of the heap.
type heap struct {
	d     device.Heap
	name  string // "NVSHMEM 3.4.5"
	words device.HeapSegment
	marks device.Ptr // of watch
	watch nvshmem.Watch
	lost  string // why it cannot be used any more; guarded by rt.mu
}

// whyNoHeap returns the reason why the ranks of the world cannot have NVSHMEM's heap, and what to
// do instead; "" if they can.
func (rt *Runtime) whyNoHeap() (why, hint string) {
	p := rt.places.Load()
	switch s := rt.sharing(); {
	case p != nil && (len(p.Parts) > 1 || p.Machines > 1):
		return fmt.Sprintf("it reaches the memory of other ranks by pointers, and the ranks %s have none to each other's",
				places.Spelled(p.Parts)),
			"use CUDA or NCCL between hosts"
	case len(s.Ranks) > 0:
		return fmt.Sprintf("%v, and NVSHMEM needs a GPU for each PE", s), "start as many ranks as there are GPUs, or use CUDA"
	}
	return "", ""
}

// refuseHeap refuses the back end NVSHMEM in a world that cannot have it.
func (rt *Runtime) refuseHeap(op, arg string) error {
	if why, hint := rt.whyNoHeap(); why != "" {
		return rt.misuse(op, arg, hint, "the back end NVSHMEM cannot be used: %s", why)
	}
	return nil
}

// inHeap reports whether the allocation is memory of NVSHMEM's heap.
func (a *allocation) inHeap() bool {
	_, ok := a.seg.(device.HeapSegment)
	return ok
}

// takesHeap reports whether Empty of the group takes memory of NVSHMEM's heap.
func (g *Group) takesHeap() bool { return g == g.rt.all && g.rt.backendName() == nvshmemBackend }

// shmemKind is NVSHMEM as a library that ranks join.
var shmemKind = libraries.Kind{Name: "NVSHMEM", Where: "for all ranks",
	Without: "start the session again, or make tensors of another group than world, whose memory is the driver's"}

// meetForHeap lets all ranks meet before they call NVSHMEM for desc. It returns the heap, or if there
// is none yet the library and the ID by which all make it. The caller holds the meeting of the group
// of all ranks.
func (rt *Runtime) meetForHeap(op, desc string) (h *heap, library device.Heaps, id []byte, err error) {
	var mine libraries.Member
	rt.mu.Lock()
	if h = rt.heap; h != nil {
		mine.Joined, mine.Lost = true, h.lost
	}
	rt.mu.Unlock()
	if h == nil {
		library, mine, err = libraries.Open(func() (device.Heaps, error) {
			return rt.dev.(device.HeapDevice).Heaps(nvshmem.Environment())
		}, rt.rank == 0)
	}
	id, err = rt.all.meetToJoin(op, desc, shmemKind, mine, err)
	return h, library, id, err
}

// joinHeap makes this rank a member of the heap that all ranks make. If one cannot, none can use it.
func (rt *Runtime) joinHeap(op string, library device.Heaps, id []byte) (*heap, error) {
	h := &heap{name: library.Name()}
	ctx, cancel := context.WithTimeout(rt.host(), libraries.Limit)
	defer cancel()
	done := rt.waitOnHost(op, rt.all, rt.all.met)
	var err error
	if h.d, err = library.Join(ctx, id, rt.rank, rt.size); err == nil {
		if h.words, err = h.d.NewSegment(ctx, 8*heapRows*rt.all.channels*rt.size); err == nil {
			h.marks, err = rt.dev.Alloc(4 * nvshmem.Streams)
		}
	}
	done()
	err = shmemKind.Late(err, h.name, rt.all.String())
	if _, err = gatherValues(rt.all, op, "joined", struct{}{}, err); err != nil {
		h.lost = "its heap was not made: " + err.Error()
	}
	h.watch.Open(nvshmem.Setting{Device: rt.dev, Page: rt.watch, Words: h.marks, Aborted: func() bool { return rt.abort.Load() != nil }})
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.heap = h
	return h, err
}

// heapSegment returns memory of the heap. All ranks call it; the caller holds the meeting of the
// group of all ranks.
func (rt *Runtime) heapSegment(op, desc string, n int) (device.Segment, error) {
	h, library, id, err := rt.meetForHeap(op, desc+" of NVSHMEM's heap")
	if err == nil && h == nil {
		h, err = rt.joinHeap(op, library, id)
	}
	if err != nil {
		return nil, err
	}
	var seg device.Segment
	err = rt.inHeapTogether(h, "nvshmem_malloc", func(ctx context.Context) (err error) {
		seg, err = h.d.NewSegment(ctx, n)
		return err
	})
	return seg, err
}

// inHeapTogether calls NVSHMEM by f, as all ranks do. If the call is given up, the heap is lost.
func (rt *Runtime) inHeapTogether(h *heap, function string, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(rt.host(), endLimit)
	defer cancel()
	err := f(ctx)
	if err != nil && ctx.Err() != nil {
		rt.loseHeap(fmt.Sprintf("rank %d gave %s up", rt.rank, function))
	}
	return err
}

// loseHeap notes why the heap cannot be used any more.
func (rt *Runtime) loseHeap(why string) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.heap != nil && rt.heap.lost == "" {
		rt.heap.lost = why
	}
}

// shmemPart is the part of NVSHMEM: its heap, and the table for kernels.
type shmemPart struct{ part }

// Drained ends the watch, for the same reason as groupPart's Drained.
func (p shmemPart) Drained() {
	p.rt.mu.Lock()
	defer p.rt.mu.Unlock()
	if h := p.rt.heap; h != nil {
		h.watch.Forget()
	}
}

// Settle notes that the heap is lost with one of its ranks.
func (p shmemPart) Settle(l seam.Loss) error {
	if why, _ := l.Of(p.rt.all.ranks); why != "" {
		p.rt.loseHeap(why)
	}
	return nil
}

// Clear makes the words zero by which ranks signal, and those of the table.
func (p shmemPart) Clear(s device.Stream) error {
	if m := p.rt.shmem.memory; m != nil {
		if err := s.Set(m.pointer()+device.Ptr(nvshmem.ClaimedAt), 0, nvshmem.ClaimedBytes); err != nil {
			return err
		}
	}
	if h := p.rt.heap; h != nil && h.words != nil {
		return s.Set(h.words.Ptr(), 0, h.words.Size())
	}
	return nil
}

// DropMemory gives the memory of an allocation back to the heap. All ranks call it. The memory of a
// heap that a rank cannot use any more stays until the processes end.
func (p shmemPart) DropMemory(op string, a *allocation) error {
	seg, ok := a.seg.(device.HeapSegment)
	if !ok || a.stale.Load() != nil {
		return nil
	}
	rt := p.rt
	rt.all.meeting.Lock()
	h, _, _, err := rt.meetForHeap(op, a.id+" of NVSHMEM's heap")
	rt.all.meeting.Unlock()
	var lost *Error
	if errors.As(err, &lost) && (lost.Kind == KindPeer || lost.Kind == KindMismatch && lost.Peer >= 0) { // a rank is absent
		return nil
	}
	if err != nil {
		return err
	}
	return rt.inHeapTogether(h, "nvshmem_free", seg.Free)
}

// Close leaves the heap, if all ranks come for it within partLimit; otherwise the end of the process
// does.
func (p shmemPart) Close() error {
	rt := p.rt
	rt.mu.Lock()
	h := rt.heap
	rt.heap = nil
	rt.mu.Unlock()
	if h == nil {
		return nil
	}
	h.watch.Forget()
	if h.marks != 0 {
		rt.dev.Free(h.marks) // no caller is left for its error
	}
	if h.lost != "" || rt.broken.Load() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), partLimit)
	defer cancel()
	if rt.client != nil {
		call := bootstrap.Call{Group: rt.all.ranks, Key: rt.all.key + " leaves the heap", Op: "Close"}
		if _, err := rt.client.Gather(ctx, call, nil); err != nil {
			return nil
		}
	}
	h.d.Close(ctx)
	return nil
}

// heapRows is the number of rows of words in the heap: each has a word for each channel and rank, by
// which that rank signals this one.
const (
	barrierRow = iota
	signalRow
	heapRows
)

// word is the word of a row by which a rank signals on a channel.
func (h *heap) word(g *Group, row, channel, rank int) device.Ptr {
	return h.words.Ptr() + device.Ptr(8*((row*g.channels+channel)*len(g.ranks)+rank))
}
