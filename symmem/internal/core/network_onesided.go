package symmem

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
	knet "github.com/symmrepl/symmrepl/kernels/net"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
)

// networkCarrier is the carrier between hosts.
type networkCarrier struct{}

func (networkCarrier) Names() []string               { return networkWays }
func (networkCarrier) Does(*operators.Operator) bool { return true }

func (networkCarrier) Takes(c *Call) bool {
	g := c.opts.group
	switch {
	case !g.split.Spans():
		return false
	case c.passage.h == nil:
		return true
	case c.of == operators.Barrier:
		return g.carriesAny(c.Record.Op)
	case c.of == operators.WaitForSignal: // which any member may end
		return g.rt.net.Load() != nil
	}
	return g.carries(c.Record.Op, c.passage.peer)
}

// Refuses refuses a call of a handle, which has one way over the network. [Call.checkHosts] refuses
// collectives.
func (networkCarrier) Refuses(c *Call) error {
	if c.passage.h == nil {
		return nil
	}
	libraries := c.rt.ways("or", func(w carrier) bool { return w != networkCarrier{} && w.Does(c.of) })
	return c.Misuse("Via", "leave it out", "Via of %s must be %s, not %q", c.Record.Op, libraries, string(c.opts.via))
}

func (networkCarrier) Run(c *Call) {
	p, h := &c.passage, c.passage.h
	put := abi.NetOp{Kind: abi.NetPut}
	if p.t != nil {
		put.Local, put.Offset, put.Bytes = p.t.pointer(), uint64(h.t.offset), uint64(p.t.Bytes())
	}
	get := put
	get.Kind = abi.NetGet
	switch c.of {
	case operators.Put:
		h.transfer(c, put)
	case operators.Get:
		h.transfer(c, get)
	case operators.PutBlock:
		h.transfer(c, p.rows(put))
	case operators.GetBlock:
		h.transfer(c, p.rows(get))
	case operators.PutWithSignal:
		h.transfer(c, signalled(c, put, abi.NetSetWord))
	case operators.SignalAdd:
		h.transfer(c, signalled(c, put, abi.NetAddWord))
	case operators.PutSignal, operators.WaitSignal:
		h.overNetwork(c, "net_"+c.Record.Op, 1, 1)
	case operators.Barrier:
		h.overNetwork(c, "net_barrier", 32, 1+int(h.g.wired.Links.PartnerCount))
	case operators.WaitForSignal:
		defer c.Enter().Leave()
		c.PickStream()
		c.Launch("net_"+c.Record.Op, 0, launch.OneBlock(1), launch.Bytes(&knet.NetWaitArgs{Context: c.Admit(h.t), Group: h.g.wired.Links,
			Word: h.signalWord(p.index), Value: p.val, Index: uint32(p.index), AtLeast: p.compares()}))
	}
}

// rows makes an operation on a tensor one on a block of the handle's tensor.
func (p *passage) rows(op abi.NetOp) abi.NetOp {
	width, pitch := p.pitches()
	op.Offset += uint64(p.at)
	op.Width, op.LocalPitch, op.RemotePitch = uint64(width), uint64(width), uint64(pitch)
	return op
}

// transfer issues an operation of the network with the member. The kernel waits until the tensor, if
// there is one, may be used again.
func (h *Handle) transfer(c *Call, op abi.NetOp) {
	g, t, peer := h.g, c.passage.t, c.passage.peer
	defer c.Enter().Leave()
	c.PickStream()
	if op.Bytes == 0 && op.Signal == abi.NetNone {
		return
	}
	c.Record.Manner = operators.Waiting
	if t != nil {
		c.Touch(t)
	}
	context := c.Admit(h.t)
	kernel := "net_post"
	if op.Bytes > 0 {
		kernel = "net_copy"
	}
	op.Peer, op.Window, op.SignalWindow = uint32(g.ranks[peer]), h.kernel.Window, h.kernel.Window+1
	posts := 1
	if op.Kind == abi.NetGet {
		posts = 2 // a fence goes before it
	}
	c.rt.expect(c.Record.Op, posts)
	c.Launch(kernel, 0, launch.OneBlock(1),
		launch.Bytes(&knet.NetPostArgs{Context: context, Port: g.wired.Links.Port, Op: op, Member: uint64(peer)}))
}

// signalled completes an operation that changes a 64-bit word of the peer's signal pad.
func signalled(c *Call, op abi.NetOp, kind uint32) abi.NetOp {
	op.Signal, op.SignalAt, op.Value = kind, uint64(8*c.passage.index), c.passage.val
	if !c.opts.has(operators.Weak) {
		op.Strong = 1
	}
	return op
}

// overNetwork issues a kernel that signals over the network: put and wait, with a peer, and the
// barrier. It posts so many operations.
func (h *Handle) overNetwork(c *Call, kernel string, threads, posts int) {
	g, p := h.g, &c.passage
	defer c.Enter().Leave()
	c.PickStream()
	c.Record.Far = true
	c.rt.expect(c.Record.Op, posts)
	c.Launch(kernel, 0, launch.OneBlock(threads),
		launch.Bytes(&knet.NetSignalArgs{Context: c.Admit(), Group: g.wired.Links, Peer: uint32(p.peer), Channel: uint32(p.index)}))
}
