package symmem

import (
	"fmt"

	"github.com/symmrepl/symmrepl/symmem/internal/core/nccl"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// Puts by NCCL
//
// With the back end NCCL, Put and PutWithSignal can go by NCCL, Via("NCCL"): its put copies from
// one window to another of a rank on the same host, by copy engines, in the order of the stream.
// NCCL's put also raises a count of NCCL at its destination, and NCCL's wait makes a stream wait
// for that count. Only the put of a peer ends such a wait, neither an interrupt nor the end of the
// communicator; so symmem does not use the wait, and ignores the count. Its own signals, which
// follow in the same stream, announce that the data has come. In a graph a put of NCCL waits for the
// wait of the put before; so puts by NCCL are not captured.

// refusedPut returns the reason for which a put that asks for NCCL cannot go by NCCL, nil if it can.
func (c *Call) refusedPut(comm *communicator, capturing bool) error {
	p, g, rt := &c.passage, c.opts.group, c.rt
	switch {
	case rt.noWindows() != "":
		return c.Misuse("Via", "leave it out", "NCCL's puts need windows: %s", rt.noWindows())
	case g.shares() != "":
		return c.Misuse("Via", "leave it out", ncclCannot+"%s", g.shares())
	case capturing:
		return c.Misuse("Via", "leave it out", "NCCL's puts cannot be captured: in a graph they wait for its own waits")
	case comm == nil:
		return c.Misuse("Via", "let all its ranks make a collective by NCCL first, such as symm.Broadcast(t, 0, symm.Via(\"NCCL\"))",
			"%v has no communicator of NCCL since Recover", g)
	case comm.noPuts != "":
		return c.Misuse("Via", "leave it out", ncclCannot+"%s", comm.noPuts)
	}
	for _, t := range []struct {
		arg string
		*Tensor
	}{{"src", p.t}, {"handle", p.h.t}} {
		if !comm.covers(t.Tensor) {
			return c.Misuse(t.arg, "give a tensor of Empty that "+g.String()+" has rendezvoused",
				"NCCL puts from window to window, and %s is in none of %v", t.kind(), g)
		}
	}
	return nil
}

// Run carries a put; the kernel that signals follows.
func (ncclCarrier) Run(c *Call) {
	p, h := &c.passage, c.passage.h
	defer c.Enter().Leave()
	c.PickStream()
	c.Admit(p.t, h.t)
	h.putByNCCL(c, p.peer, p.t)
	if c.of == operators.PutWithSignal {
		h.putWithSignal(c, 0)
	}
}

// covers reports whether a tensor is memory of this rank in a window of the communicator.
func (c *communicator) covers(t *Tensor) bool {
	c.g.rt.mu.Lock()
	defer c.g.rt.mu.Unlock()
	return t.Symmetric() && c.resource(resource{a: t.st.alloc}) != nil
}

// putByNCCL issues the copy of an admitted put. It refuses a communicator that was ended.
func (h *Handle) putByNCCL(c *Call, dst int, src *Tensor) {
	g, rt, a := h.g, h.g.rt, h.t.st.alloc
	comm := g.comms[byKernels]
	if comm == nil || comm.isEnded() {
		panic(&Error{Kind: KindPeer, Op: c.Record.Op, Rank: rt.rank, Peer: -1,
			Msg: fmt.Sprintf("the communicator of %v was ended", g), Hint: "all ranks must call Recover"})
	}
	put := device.Collective{Kind: device.Put, Src: src.pointer(), N: src.Bytes(), Type: "u8", Root: dst,
		Window: comm.resource(resource{a: a}).window, Offset: int(h.buffers[g.rank] - a.seg.Ptr())}
	c.told = true // Explain gets the way below
	if put.N > 0 {
		c.issued(c.stream.issue(func(s device.Stream) error { return s.Collective(comm.C, put) }))
		comm.Watch(nccl.Call{On: resting{c.stream}, Puts: true})
	}
	c.Chose(put.N, &tuning.Way{Path: comm.Name + " by copy engines", Why: "the call asks for it by Via"})
}
