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

// shmemCarrier is NVSHMEM, for calls of handles.
type shmemCarrier struct{}

var shmemWays = []string{string(ViaNVSHMEM)}

func (shmemCarrier) Names() []string                  { return shmemWays }
func (shmemCarrier) Does(of *operators.Operator) bool { return of.NVSHMEM }

// Takes takes what Compare sends by NVSHMEM.
func (w shmemCarrier) Takes(c *Call) bool {
	p := c.rt.comparing.Load()
	return p != nil && w.Does(c.of) && p.heapCall(w.Refuses(c) == nil)
}

func (shmemCarrier) Refuses(c *Call) error {
	h, rt := c.passage.h, c.rt
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
	case c.Record.Manner >= operators.Signalling && h.g != rt.all:
		return c.Misuse("group", "leave Via out, or use a handle of world", "the signals by NVSHMEM are of world, not of %v", h.g)
	case lost != "":
		return &Error{Kind: KindPeer, Op: c.Record.Op, Rank: rt.rank, Peer: -1, Arg: "Via", Msg: "NVSHMEM cannot go on: " + lost,
			Hint: "leave Via out"}
	case capturing && (c.of == operators.Barrier || c.of == operators.WaitSignal || c.of == operators.WaitForSignal):
		return c.Misuse("Via", "leave it out", "waits by NVSHMEM cannot be captured: in a graph nothing could end them")
	}
	return nil
}

func (shmemCarrier) Run(c *Call) {
	p, h := &c.passage, c.passage.h
	defer c.Enter().Leave()
	c.PickStream()
	bytes := 0
	var used []*Tensor
	if c.of.Manner < operators.Signalling {
		used = append(used, h.t)
	}
	if p.t != nil {
		used, bytes = append(used, p.t), p.t.Bytes()
	}
	c.Admit(used...)
	c.told = true // Explain gets the way below
	s := heapCall{c, h, c.rt.heap}
	c.issued(s.run(p))
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

// run issues the operations of the call.
func (s *heapCall) run(p *passage) error {
	h, g := s.h, s.h.g
	switch s.c.of {
	case operators.Put:
		if p.t.n == 0 {
			return nil
		}
		return s.issue(device.OneSided{Kind: device.HeapPut, Dst: h.buffers[g.rank], Src: p.t.pointer(), N: p.t.Bytes(),
			Peer: g.ranks[p.peer]})
	case operators.Get:
		if p.t.n == 0 {
			return nil
		}
		return s.issue(device.OneSided{Kind: device.HeapGet, Dst: p.t.pointer(), Src: h.buffers[g.rank], N: p.t.Bytes(),
			Peer: g.ranks[p.peer]})
	case operators.PutWithSignal:
		return s.issue(device.OneSided{Kind: device.HeapPutSignal, Dst: h.buffers[g.rank], Src: p.t.pointer(), N: p.t.Bytes(),
			Peer: g.ranks[p.peer], Word: h.signalWord(p.index), Value: p.val})
	case operators.SignalAdd:
		return s.issue(device.OneSided{Kind: device.HeapSignalAdd, Word: h.signalWord(p.index), Peer: g.ranks[p.peer], Value: p.val})
	case operators.WaitForSignal:
		return s.await(h.signalWord(p.index), p.val, p.atLeast, device.WaitWord, g.rank, p.index)
	case operators.PutSignal:
		return s.signal(signalRow, p.index, p.peer)
	case operators.WaitSignal:
		return s.consume(signalRow, p.index, p.peer, device.WaitSignal)
	}
	return s.barrier(p.index)
}

// barrier lets the members' streams meet.
func (s *heapCall) barrier(channel int) error {
	g := s.h.g
	for p := range g.ranks {
		if p != g.rank {
			if err := s.signal(barrierRow, channel, p); err != nil {
				return err
			}
		}
	}
	for p := range g.ranks {
		if p != g.rank {
			if err := s.consume(barrierRow, channel, p, device.WaitBarrier); err != nil {
				return err
			}
		}
	}
	return nil
}
