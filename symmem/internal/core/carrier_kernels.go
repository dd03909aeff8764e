package symmem

import (
	"github.com/symmrepl/symmrepl/kernels/rows"
	"github.com/symmrepl/symmrepl/kernels/signal"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

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
	case operators.PutSignal, operators.WaitSignal: // whose kernels are named like the operations
		a := ArgsOf[signal.SignalArgs](c)
		*a = signal.SignalArgs{Context: c.Admit(), Signals: h.g.work.signals, Peer: uint32(p.peer), Channel: uint32(p.index)}
		c.Launch(op, 0, launch.OneBlock(1), launch.Bytes(a))
	case operators.Barrier:
		a := ArgsOf[signal.BarrierArgs](c)
		*a = signal.BarrierArgs{Context: c.Admit(), Signals: h.g.work.signals, Channel: uint64(p.index)}
		c.Launch(op, 0, launch.OneBlock(32), launch.Bytes(a))
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
		c.Launch(op, 0, launch.OneBlock(1), launch.Bytes(&signal.SignalAddArgs{Word: h.pads[p.peer] + device.Ptr(8*p.index), Value: p.val}))
	case operators.WaitForSignal:
		c.Launch(op, 0, launch.OneBlock(1), launch.Bytes(&signal.WaitForSignalArgs{Context: c.Admit(h.t), Word: h.signalWord(p.index),
			Value: p.val, Index: uint32(p.index), AtLeast: p.compares()}))
	}
}

// putCopies is the size from which PutWithSignal leaves the copy to the copy engine.
const putCopies = 64 << 10

// putWithSignal issues the kernel of an admitted PutWithSignal, which copies the first n bytes.
func (h *Handle) putWithSignal(c *Call, n int) {
	p := &c.passage
	c.Launch(c.Record.Op, 0, launch.OneBlock(min(max(32, (n/16+31)&^31), 512)), launch.Bytes(&signal.PutWithSignalArgs{
		Dst: h.buffers[p.peer], Src: p.t.pointer(), N: uint64(n), Word: h.pads[p.peer] + device.Ptr(8*p.index), Value: p.val,
	}))
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
