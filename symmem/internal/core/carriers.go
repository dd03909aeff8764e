package symmem

import (
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/rows"
	"github.com/symmrepl/symmrepl/kernels/signal"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Carriers
//
// Kernels and copies on mapped memory carry calls, unless another carrier does: the network, with
// members on other hosts, and the libraries NCCL and NVSHMEM. Each is a row here, and the choice
// between them is made by [Call.carrier] alone.

// carriers are the ways to carry calls. The last takes all that the others do not take.
var carriers = []seam.Carrier[*Call]{shmemCarrier{}, ncclCarrier{}, networkCarrier{}, kernelCarrier{}}

// passage describes a call to its carrier.
type passage struct {
	h            *Handle // whose tensor or signals; nil for a collective
	peer         int     // the member
	t            *Tensor // that is put, or into which is got
	at           device.Ptr
	channel, sig int
	val          uint64
	atLeast      bool
	cannot       string // of a collective: why NCCL does not do it; empty if it does
}

// carry carries a call of the handle.
func (h *Handle) carry(c *Call, p passage) {
	p.h = h
	c.passage = p
	c.carrier().Run(c)
}

// carrier chooses the carrier of a call that has not entered. It refuses a call that asks for one that
// cannot carry it.
func (c *Call) carrier() seam.Carrier[*Call] {
	if c.opts.via == "" {
		return carriers[slices.IndexFunc(carriers, func(w seam.Carrier[*Call]) bool { return w.Takes(c) })]
	}
	w := carrierOf(c.opts.via)
	if err := w.Refuses(c); err != nil {
		panic(err)
	}
	return w
}

// carrierOf returns the carrier that has a way, nil if none has.
func carrierOf(v Via) seam.Carrier[*Call] {
	for _, w := range carriers {
		if slices.Contains(w.Names(), string(v)) {
			return w
		}
	}
	return nil
}

// ways lists the ways for which calls can ask, of some carriers, after others, as a sentence has them.
func ways(of func(seam.Carrier[*Call]) bool, after ...string) string {
	for _, w := range slices.Backward(carriers) {
		if of(w) {
			for _, name := range w.Names() {
				after = append(after, strconv.Quote(name))
			}
		}
	}
	last := len(after) - 1
	return strings.Join(after[:last], ", ") + " and " + after[last]
}

// kernelCarrier is the carrier for memory that is mapped here.
type kernelCarrier struct{}

func (kernelCarrier) Names() []string               { return nil }
func (kernelCarrier) Does(*operators.Operator) bool { return true }
func (kernelCarrier) Takes(*Call) bool              { return true }
func (kernelCarrier) Refuses(*Call) error           { return nil }

func (kernelCarrier) Run(c *Call) {
	p, h, op := &c.passage, c.passage.h, c.Record.Op
	defer c.Enter().Leave()
	c.PickStream()
	switch c.of {
	case operators.Put:
		c.Admit(p.t, h.t)
		c.issued(c.stream.copy(h.buffers[p.peer], p.t.pointer(), p.t.Bytes()))
	case operators.Get:
		c.Admit(p.t, h.t)
		c.issued(c.stream.copy(p.t.pointer(), h.buffers[p.peer], p.t.Bytes()))
	case operators.PutBlock, operators.GetBlock:
		h.moveRows(c)
	case operators.PutWithSignal:
		c.Admit(p.t, h.t)
		n := p.t.Bytes()
		if n >= putCopies {
			c.issued(c.stream.copy(h.buffers[p.peer], p.t.pointer(), n))
			n = 0
		}
		h.putWithSignal(c, n)
	case operators.SignalAdd:
		c.Admit(h.t)
		c.Launch(op, 0, launch.OneBlock(1), launch.Bytes(&signal.SignalAddArgs{Word: h.pads[p.peer] + device.Ptr(8*p.sig), Value: p.val}))
	case operators.WaitForSignal:
		c.Launch(op, 0, launch.OneBlock(1), launch.Bytes(&signal.WaitForSignalArgs{Context: c.Admit(h.t), Word: h.signalWord(p.sig),
			Value: p.val, Index: uint32(p.sig), AtLeast: p.compares()}))
	case operators.PutSignal, operators.WaitSignal: // whose kernels are named like the operations
		a := ArgsOf[signal.SignalArgs](c)
		*a = signal.SignalArgs{Context: c.Admit(), Signals: h.g.work.signals, Peer: uint32(p.peer), Channel: uint32(p.channel)}
		c.Launch(op, 0, launch.OneBlock(1), launch.Bytes(a))
	case operators.Barrier:
		a := ArgsOf[signal.BarrierArgs](c)
		*a = signal.BarrierArgs{Context: c.Admit(), Signals: h.g.work.signals, Channel: uint64(p.channel)}
		c.Launch(op, 0, launch.OneBlock(32), launch.Bytes(a))
	}
}

// compares is the comparison of a wait for a word, as kernels have it.
func (p *passage) compares() uint32 {
	if p.atLeast {
		return 1
	}
	return 0
}

// putCopies is the size from which PutWithSignal leaves the copy to the copy engine.
const putCopies = 64 << 10

// putWithSignal issues the kernel of an admitted PutWithSignal, which copies the first n bytes.
func (h *Handle) putWithSignal(c *Call, n int) {
	p := &c.passage
	c.Launch(c.Record.Op, 0, launch.OneBlock(min(max(32, (n/16+31)&^31), 512)), launch.Bytes(&signal.PutWithSignalArgs{
		Dst: h.buffers[p.peer], Src: p.t.pointer(), N: uint64(n), Word: h.pads[p.peer] + device.Ptr(8*p.sig), Value: p.val,
	}))
}

// width and pitch are the bytes of a row of a block, and from one row of the handle's tensor to the
// next.
func (p *passage) pitches() (width, pitch int) {
	return p.t.shape[1] * p.t.dtype.Size(), p.h.t.shape[1] * p.t.dtype.Size()
}

// moveRows copies the rows of a tensor to or from a block of a member's copy of the handle's tensor.
func (h *Handle) moveRows(c *Call) {
	p := &c.passage
	if p.t.n == 0 {
		return
	}
	c.Admit(p.t, h.t)
	width, pitch := p.pitches()
	a := rows.CopyRowsArgs{Dst: h.buffers[p.peer] + p.at, Src: p.t.pointer(), Rows: uint64(p.t.shape[0]), Width: uint64(width),
		DstPitch: uint64(pitch), SrcPitch: uint64(width)}
	if c.of == operators.GetBlock {
		a.Dst, a.Src, a.DstPitch, a.SrcPitch = a.Src, a.Dst, a.SrcPitch, a.DstPitch
	}
	c.Launch("copy_rows", 0, launch.Elements(p.t.n, c.rt.plan, c.rt.info.Processors), launch.Bytes(&a))
}
