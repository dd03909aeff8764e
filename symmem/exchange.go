package symmem

import (
	"slices"

	exchangekernel "github.com/symmrepl/symmrepl/kernels/exchange"
	"github.com/symmrepl/symmrepl/kernels/packets"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// exchange is a call of an operation that copies between members without computing.
type exchange struct {
	core.Call
	t, out   *Tensor // out may be nil until it runs
	g        *Group
	from, to core.Copies                  // of t and out; from of out if t is staged there
	pushes   bool                         // peers store into out: to knows its copies
	staged   bool                         // t was copied into its place in out, where peers read it
	args     *exchangekernel.ExchangeArgs // allocated apart: memory that a launch reads may hold no Go pointers
}

// exchange begins an exchange: it makes the checks that all exchanges have in common.
func (rt *Runtime) exchange(of *operators.Operator, t, out *Tensor, opts []Option) *exchange {
	rt.core.Usable(of.Name, t)
	home := t
	if out != nil && !t.Symmetric() {
		home = out
	}
	e := &exchange{Call: rt.core.NewCall(of, core.Operand(home).Home(), opts), t: t, out: out, args: new(exchangekernel.ExchangeArgs)}
	e.PreferEngines(of.Options&operators.CopyEngine != 0 && (t.Symmetric() || of == operators.AllGather && out != nil && out.Symmetric()))
	e.g, e.Record.DType, e.Record.N = e.Group(), element.Type(t.DType()), t.Numel()
	return e
}

// checkOut refuses an out that is not of this shape or overlaps t, unless own says that t is its
// place in it.
func (e *exchange) checkOut(shape []int, own bool) {
	if e.out == nil {
		return
	}
	if e.out.DType() != e.t.DType() || e.out.Numel() != numelOf(shape) {
		panic(e.Misuse("out", "", "out is %v, expected out shape %v", core.Operand(e.out).Brief(), element.Type(e.t.DType()).Shaped(shape)))
	}
	if !own && core.Operand(e.t).Overlaps(e.out) {
		panic(e.Misuse("out", "", "out overlaps the tensor"))
	}
}

// reads makes t, or its stand-in, the tensor that peers read, and out too if both are one.
func (e *exchange) reads() {
	access := core.Reads
	if e.out == e.t {
		access |= core.Writes
	}
	t := e.Symmetric(e.t, access)
	if e.out == e.t {
		e.out = t
	}
	e.t, e.from = t, e.Mapped(t)
	e.Record.On(t)
}

// piece adds a copy of this member's.
func (e *exchange) piece(src, dst device.Ptr) {
	e.args.Src[e.args.Pieces], e.args.Dst[e.args.Pieces] = src, dst
	e.args.Pieces++
}

// Ways of an exchange.
var (
	pushWay = &tuning.Way{Path: "stores between barriers",
		Why: "out is symmetric, and stores into peers' memory are quicker than loads from it"}
	pullWay = &tuning.Way{Path: "loads between barriers", Why: "out is not symmetric, so that peers cannot store into it"}
	handOn  = &tuning.Way{Path: "slices between barriers", Why: "the root sends every byte once, and the others hand their slices on"}
)

// run launches the exchange of pieces of n bytes at most, which lay adds. push says that out is
// symmetric.
func (e *exchange) run(shape []int, n int, lay func(push bool)) *Tensor {
	if e.Has(operators.CopyEngine) {
		return e.byEngines(shape, n, lay)
	}
	defer e.Enter().Leave()
	w, push := pullWay, false
	if e.out != nil && e.Maps(e.out) {
		e.to, w, push = e.Mapped(e.out), pushWay, true
		e.Record.On(e.out)
	}
	if !push || e.out == e.t {
		e.reads()
	}
	e.PickStream()
	if e.out == nil {
		e.out = e.Fresh(e.t.DType(), slices.Clone(shape), numelOf(shape))
	}
	if n == 0 {
		return e.out
	}
	c := e.Admit(e.t, e.out)
	loads := e.out == e.t
	if loads {
		w = handOn
	}
	e.Chose(e.t.Bytes(), w)
	e.args.N = uint64(n)
	lay(push)
	l, c := e.MeetingGrid(n, loads, c)
	e.args.Context, e.args.Signals = c, e.Work().Meetings
	e.Launch("exchange", 0, l, launch.Bytes(e.args))
	return e.out
}

// byPackets launches the exchange of pieces as packets. piece returns the address in this member's
// memory of the piece for member p, and the address in e.out for the piece of member p; 0 for none.
func (e *exchange) byPackets(shape []int, a packets.ExchangePacketsArgs, piece func(p int) (src, dst device.Ptr)) *Tensor {
	defer e.Enter().Leave()
	if e.out != nil && e.Maps(e.out) {
		e.Mapped(e.out)
		e.Record.On(e.out)
	} else {
		e.Through(e.t)
		e.Record.On(e.t)
	}
	e.PickStream()
	if e.out == nil {
		e.out = e.Fresh(e.t.DType(), slices.Clone(shape), numelOf(shape))
	}
	c := e.Admit(e.t, e.out)
	e.Chose(e.t.Bytes(), tuning.Packets)
	for p := range e.g.Size() {
		a.Src[p], a.Dst[p] = piece(p)
	}
	n := packetsIn(int(a.N), 4)
	a.Context, a.Packets, a.Epochs, a.Inbox = c, uint64(n), e.Work().Epochs, e.Work().Inbox
	args := core.ArgsOf[packets.ExchangePacketsArgs](&e.Call)
	*args = a
	e.Launch("exchange_packets", e.g.Size(), packetGrid(&e.Call, n), launch.Bytes(args))
	return e.out
}

// sliceBytes is the size of the slices by which members share a tensor. All begin at the same
// distance from a line of memory: links carry lines, and parts of lines cost as much.
func sliceBytes(t *Tensor, sharers int) int {
	const line = 128
	return ((t.Bytes()+sharers-1)/sharers + line - 1) &^ (line - 1)
}

func numelOf(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
