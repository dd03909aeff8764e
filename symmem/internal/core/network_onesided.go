package symmem

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/abi"
	knet "github.com/symmrepl/symmrepl/kernels/net"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
)

// carries reports whether an operation with a member, by its rank in the group, goes over the
// network, because the member is on another host. It refuses the operation if there is no network;
// instead lists the caller's alternatives.
func (g *Group) carries(op string, peer int, instead ...string) bool {
	if !g.split.Spans() || g.split.Near(peer) {
		return false
	}
	if g.rt.net.Load() == nil {
		r := g.ranks[peer]
		msg := fmt.Sprintf("no engine carries %s between hosts, and rank %d is on another one", op, r)
		if g.rt.sameHost(r) {
			msg = fmt.Sprintf("no engine carries %s to rank %d, which %s", op, r, g.rt.apart(r))
		}
		panic(&Error{Kind: KindMisuse, Op: op, Rank: g.rt.rank, Peer: r, Arg: "group", Msg: msg + "; " + *g.rt.noNetwork.Load(),
			Hint: strings.Join(append([]string{"use " + g.nearby()}, instead...), ", or ")})
	}
	return true
}

// carriesAny is carries for an operation with all members.
func (g *Group) carriesAny(op string, instead ...string) bool {
	for i := range g.ranks {
		g.carries(op, i, instead...)
	}
	return g.split.Spans()
}

// transfer issues an operation of the network with a member, on the memory of t if it moves data.
// The kernel waits until t may be used again.
func (h *Handle) transfer(c *Call, t *Tensor, peer int, op abi.NetOp) {
	g := h.g
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
		launch.Bytes(&knet.NetPostArgs{Context: context, Port: g.links.Port, Op: op, Member: uint64(peer)}))
}

// signalled completes an operation that changes 64-bit word sig of the peer's signal pad.
func signalled(c *Call, op abi.NetOp, kind uint32, sig int, value uint64) abi.NetOp {
	op.Signal, op.SignalAt, op.Value = kind, uint64(8*sig), value
	if !c.opts.has(operators.Weak) {
		op.Strong = 1
	}
	return op
}

// overNetwork issues a kernel that signals over the network: put and wait, with a peer, and the
// barrier. It posts so many operations.
func (h *Handle) overNetwork(c *Call, kernel string, threads, posts int, peer uint32, channel int) {
	g := h.g
	defer c.Enter().Leave()
	c.PickStream()
	c.Record.Far = true
	c.rt.expect(c.Record.Op, posts)
	c.Launch(kernel, 0, launch.OneBlock(threads),
		launch.Bytes(&knet.NetSignalArgs{Context: c.Admit(), Group: g.links, Peer: peer, Channel: uint32(channel)}))
}
