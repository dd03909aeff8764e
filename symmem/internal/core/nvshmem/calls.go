package nvshmem

import (
	"github.com/symmrepl/symmrepl/internal/errkind"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Calls by NVSHMEM
//
// With the back end NVSHMEM, a handle's puts, gets, signals, waits and barriers can go by NVSHMEM,
// Via("NVSHMEM"): by its functions that end in _on_stream, in the order of the stream.
//
// nvshmemx_barrier_on_stream is not among them. Nothing but the other PEs ends it, neither an
// interrupt nor a deadline, and if one of them does not come the stream is lost. A barrier by NVSHMEM
// is one of its signals instead: each member adds 1 to a word of each other member, waits until its
// own words are not 0, and takes 1 off. Words of the heap can be stored to from here, so that these
// waits end like those of kernels ([Watch]). PutSignal and WaitSignal are the halves of that.

var ways = []string{"NVSHMEM"}

// Names implements seam.Library.
func (*Heap) Names() []string { return ways }

// Does implements seam.Library.
func (*Heap) Does(of *operators.Operator) bool { return of.NVSHMEM }

// Refuses implements seam.Library.
func (h *Heap) Refuses(c *seam.Request) error {
	if _, ok := h.Device.(device.HeapDevice); !ok {
		return seam.Misuse("Via", "leave it out", "NVSHMEM needs the cuda device, this is %s", h.Name)
	}
	lost := ""
	if j := h.joined.Load(); j != nil {
		lost = j.whyLost()
	}
	switch backend, advice := h.Backend(); {
	case backend != kind.Name:
		return seam.Misuse("Via", "leave it out, or choose the back end NVSHMEM: "+advice,
			"NVSHMEM needs memory of its heap, and the back end is %s", backend)
	case !Holds(c.Segment):
		return seam.Misuse("handle", "give a handle of a tensor that symm.Empty made", "%s is not memory of NVSHMEM's heap", c.Tensor)
	case c.Of.Manner >= operators.Signalling && !c.Whole:
		return seam.Misuse("group", "leave Via out, or use a handle of world", "the signals by NVSHMEM are of world, not of %v", c.Group)
	case lost != "":
		return &seam.Refusal{Kind: errkind.Peer, Peer: -1, Arg: "Via", Msg: "NVSHMEM cannot go on: " + lost, Hint: "leave Via out"}
	case c.Captured && (c.Of == operators.Barrier || c.Of == operators.WaitSignal || c.Of == operators.WaitForSignal):
		return seam.Misuse("Via", "leave it out", "waits by NVSHMEM cannot be captured: in a graph nothing could end them")
	}
	return nil
}

// Issue implements seam.Library.
func (h *Heap) Issue(r *seam.Request) (by string, err error) {
	c := call{r, h.joined.Load()}
	return c.heap.name, c.run()
}

// call is an admitted call.
type call struct {
	*seam.Request
	heap *joined
}

// issue issues one operation.
func (c call) issue(o device.OneSided) error {
	return c.Stream.Issue(func(d device.Stream) error { return d.OneSided(c.heap.d, o) })
}

// await makes the stream wait for a word of this rank, for a member or this rank itself.
func (c call) await(word device.Ptr, value uint64, atLeast bool, kind uint32, peer int) error {
	t := Wait{Word: word, Value: value, AtLeast: atLeast, Limit: c.Timeout, Record: device.WaitRecord{
		Kind: kind, Ordinal: c.ID, Rank: uint32(c.Group.Rank()), Peer: uint32(peer), Channel: uint32(c.Index)}}
	return c.heap.watch.Issue(c.Stream, t, func(before, after []device.Value) error {
		return c.Stream.Issue(func(d device.Stream) error {
			if err := d.Values(before); err != nil {
				return err
			}
			if err := d.OneSided(c.heap.d, device.OneSided{Kind: device.HeapWait, Word: word, Value: value, AtLeast: atLeast}); err != nil {
				return err
			}
			return d.Values(after)
		})
	})
}

// signal adds 1 to this rank's word of a row at a member. Signals are of the group of all ranks alone,
// as words are.
func (c call) signal(row, peer int) error {
	return c.issue(device.OneSided{Kind: device.HeapSignalAdd, Word: c.heap.word(row, c.Index, c.Group.Rank()), Peer: peer, Value: 1})
}

// consume waits for a signal of a member, and takes it off the word.
func (c call) consume(row, peer int, kind uint32) error {
	word := c.heap.word(row, c.Index, peer)
	if err := c.await(word, 1, true, kind, peer); err != nil {
		return err
	}
	return c.issue(device.OneSided{Kind: device.HeapSignalAdd, Word: word, Peer: c.Group.Rank(), Value: ^uint64(0)})
}

// run issues the operations of the call.
func (c call) run() error {
	word := c.Pad + device.Ptr(8*c.Index)
	switch c.Of {
	case operators.Put:
		if c.Bytes == 0 {
			return nil
		}
		return c.issue(device.OneSided{Kind: device.HeapPut, Dst: c.Copy, Src: c.Operand, N: c.Bytes, Peer: c.Peer})
	case operators.Get:
		if c.Bytes == 0 {
			return nil
		}
		return c.issue(device.OneSided{Kind: device.HeapGet, Dst: c.Operand, Src: c.Copy, N: c.Bytes, Peer: c.Peer})
	case operators.PutWithSignal:
		return c.issue(device.OneSided{Kind: device.HeapPutSignal, Dst: c.Copy, Src: c.Operand, N: c.Bytes, Peer: c.Peer, Word: word,
			Value: c.Value})
	case operators.SignalAdd:
		return c.issue(device.OneSided{Kind: device.HeapSignalAdd, Word: word, Peer: c.Peer, Value: c.Value})
	case operators.WaitForSignal:
		return c.await(word, c.Value, c.AtLeast, device.WaitWord, c.Group.Rank())
	case operators.PutSignal:
		return c.signal(signalRow, c.Peer)
	case operators.WaitSignal:
		return c.consume(signalRow, c.Peer, device.WaitSignal)
	}
	return c.barrier()
}

// barrier lets the members' streams meet.
func (c call) barrier() error {
	for p := range c.heap.size {
		if p != c.Group.Rank() {
			if err := c.signal(barrierRow, p); err != nil {
				return err
			}
		}
	}
	for p := range c.heap.size {
		if p != c.Group.Rank() {
			if err := c.consume(barrierRow, p, device.WaitBarrier); err != nil {
				return err
			}
		}
	}
	return nil
}
