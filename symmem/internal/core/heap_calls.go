package symmem

import (
	"github.com/symmrepl/symmrepl/symmem/internal/core/nvshmem"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
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
// waits end like those of kernels (nvshmem.Watch). PutSignal and WaitSignal are the halves of that.

// byNVSHMEM decides whether a call of the handle goes by NVSHMEM. One that asks for it by Via and
// cannot have it is refused. waits says that the call waits.
func (h *Handle) byNVSHMEM(c *Call, waits bool) bool {
	switch c.opts.via {
	case "":
		p := c.rt.comparing.Load()
		return p != nil && p.heapCall(h.notByNVSHMEM(c, waits) == nil)
	case ViaNVSHMEM:
		if why := h.notByNVSHMEM(c, waits); why != nil {
			panic(why)
		}
		return true
	}
	panic(c.Misuse("Via", "leave it out", "Via of %s must be \"NVSHMEM\", not %q", c.Record.Op, string(c.opts.via)))
}

// notByNVSHMEM returns the error of a call of the handle that cannot go by NVSHMEM; nil if it can.
func (h *Handle) notByNVSHMEM(c *Call, waits bool) *Error {
	g, rt := h.g, h.g.rt
	_, ok := rt.dev.(device.HeapDevice)
	rt.mu.Lock()
	lost, capturing := "", rt.capture != nil
	if rt.heap != nil {
		lost = rt.heap.lost
	}
	rt.mu.Unlock()
	switch {
	case !ok:
		return c.Misuse("Via", "leave it out", "NVSHMEM needs the cuda device, this is %s", rt.name)
	case rt.backendName() != nvshmemBackend:
		return c.Misuse("Via", "leave it out, or choose the back end NVSHMEM: "+rt.backend.fix(nvshmemBackend),
			"NVSHMEM needs memory of its heap, and the back end is %s", rt.backendName())
	case !h.t.st.alloc.inHeap():
		return c.Misuse("handle", "give a handle of a tensor that symm.Empty made", "%s is not memory of NVSHMEM's heap", h.t.kind())
	case c.Record.Manner >= operators.Signalling && g != rt.all:
		return c.Misuse("group", "leave Via out, or use a handle of world", "the signals by NVSHMEM are of world, not of %v", g)
	case lost != "":
		return &Error{Kind: KindPeer, Op: c.Record.Op, Rank: rt.rank, Peer: -1, Arg: "Via", Msg: "NVSHMEM cannot go on: " + lost,
			Hint: "leave Via out"}
	case capturing && waits:
		return c.Misuse("Via", "leave it out", "waits by NVSHMEM cannot be captured: in a graph nothing could end them")
	}
	return nil
}

// shmemCall issues the steps of a call by NVSHMEM, which has not entered: f returns the first
// error. The call moves the number of bytes and uses the tensors.
func (h *Handle) shmemCall(c *Call, bytes int, f func(*heapCall) error, tensors ...*Tensor) {
	defer c.Enter().Leave()
	c.PickStream()
	c.Admit(tensors...)
	c.route = route{} // Explain gets the way below
	s := heapCall{c, h, c.rt.heap}
	c.issued(f(&s))
	c.Chose(bytes, &tuning.Way{Path: s.heap.name, Why: "the call asks for it by Via"})
}

// heapCall is an admitted call by NVSHMEM.
type heapCall struct {
	c    *Call
	h    *Handle
	heap *heap
}

// issue issues one operation.
func (s *heapCall) issue(o device.OneSided) error {
	return s.c.stream.issue(func(d device.Stream) error { return d.OneSided(s.heap.d, o) })
}

// await makes the stream wait for a word of this rank, for a member or this rank itself.
func (s *heapCall) await(word device.Ptr, value uint64, atLeast bool, kind uint32, peer, channel int) error {
	c := s.c
	t := nvshmem.Wait{Word: word, Value: value, AtLeast: atLeast, Limit: c.opts.timeout, Record: device.WaitRecord{
		Kind: kind, Ordinal: c.Record.ID, Rank: uint32(s.h.g.rank), Peer: uint32(peer), Channel: uint32(channel)}}
	return s.heap.watch.Issue(resting{c.stream}, t, func(before, after []device.Value) error {
		return c.stream.issue(func(d device.Stream) error {
			if err := d.Values(before); err != nil {
				return err
			}
			if err := d.OneSided(s.heap.d, device.OneSided{Kind: device.HeapWait, Word: word, Value: value, AtLeast: atLeast}); err != nil {
				return err
			}
			return d.Values(after)
		})
	})
}

// signal adds 1 to this rank's word of a row at a member.
func (s *heapCall) signal(row, channel, peer int) error {
	g := s.h.g
	return s.issue(device.OneSided{Kind: device.HeapSignalAdd, Word: s.heap.word(g, row, channel, g.rank), Peer: g.ranks[peer], Value: 1})
}

// consume waits for a signal of a member, and takes it off the word.
func (s *heapCall) consume(row, channel, peer int, kind uint32) error {
	g := s.h.g
	word := s.heap.word(g, row, channel, peer)
	if err := s.await(word, 1, true, kind, peer, channel); err != nil {
		return err
	}
	return s.issue(device.OneSided{Kind: device.HeapSignalAdd, Word: word, Peer: g.rt.rank, Value: ^uint64(0)})
}

// putByNVSHMEM puts src into dst's copy of the handle's tensor.
func (h *Handle) putByNVSHMEM(c *Call, dst int, src *Tensor) {
	h.shmemCall(c, src.Bytes(), func(s *heapCall) error {
		if src.n == 0 {
			return nil
		}
		return s.issue(device.OneSided{Kind: device.HeapPut, Dst: h.buffers[h.g.rank], Src: src.pointer(), N: src.Bytes(),
			Peer: h.g.ranks[dst]})
	}, src, h.t)
}

// getByNVSHMEM gets the start of src's copy of the handle's tensor into dst.
func (h *Handle) getByNVSHMEM(c *Call, src int, dst *Tensor) {
	h.shmemCall(c, dst.Bytes(), func(s *heapCall) error {
		if dst.n == 0 {
			return nil
		}
		return s.issue(device.OneSided{Kind: device.HeapGet, Dst: dst.pointer(), Src: h.buffers[h.g.rank], N: dst.Bytes(),
			Peer: h.g.ranks[src]})
	}, dst, h.t)
}

// putWithSignalByNVSHMEM puts src into dst's copy of the handle's tensor, and sets a word of its pad.
func (h *Handle) putWithSignalByNVSHMEM(c *Call, dst int, src *Tensor, sig int, val uint64) {
	h.shmemCall(c, src.Bytes(), func(s *heapCall) error {
		return s.issue(device.OneSided{Kind: device.HeapPutSignal, Dst: h.buffers[h.g.rank], Src: src.pointer(), N: src.Bytes(),
			Peer: h.g.ranks[dst],
			Word: h.signalWord(sig), Value: val})
	}, src, h.t)
}

// signalAddByNVSHMEM adds n to a word of dst's pad.
func (h *Handle) signalAddByNVSHMEM(c *Call, dst, sig int, n uint64) {
	h.shmemCall(c, 0, func(s *heapCall) error {
		return s.issue(device.OneSided{Kind: device.HeapSignalAdd, Word: h.signalWord(sig), Peer: h.g.ranks[dst], Value: n})
	}, h.t)
}

// waitForSignalByNVSHMEM waits for a word of this rank's pad.
func (h *Handle) waitForSignalByNVSHMEM(c *Call, sig int, val uint64, atLeast bool) {
	h.shmemCall(c, 0, func(s *heapCall) error {
		return s.await(h.signalWord(sig), val, atLeast, device.WaitWord, h.g.rank, sig)
	}, h.t)
}

// putSignalByNVSHMEM signals a member on a channel.
func (h *Handle) putSignalByNVSHMEM(c *Call, dst, channel int) {
	h.shmemCall(c, 0, func(s *heapCall) error { return s.signal(signalRow, channel, dst) })
}

// waitSignalByNVSHMEM consumes a signal of a member.
func (h *Handle) waitSignalByNVSHMEM(c *Call, src, channel int) {
	h.shmemCall(c, 0, func(s *heapCall) error { return s.consume(signalRow, channel, src, device.WaitSignal) })
}

// barrierByNVSHMEM lets the members' streams meet.
func (h *Handle) barrierByNVSHMEM(c *Call, channel int) {
	h.shmemCall(c, 0, func(s *heapCall) error {
		for p := range h.g.ranks {
			if p != h.g.rank {
				if err := s.signal(barrierRow, channel, p); err != nil {
					return err
				}
			}
		}
		for p := range h.g.ranks {
			if p != h.g.rank {
				if err := s.consume(barrierRow, channel, p, device.WaitBarrier); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// signalWord is a 64-bit word of this rank's signal pad of the tensor. In NVSHMEM's heap it stands for
// the word of each member.
func (h *Handle) signalWord(sig int) device.Ptr { return h.pads[h.g.rank] + device.Ptr(8*sig) }
