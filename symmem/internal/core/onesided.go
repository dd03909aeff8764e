package symmem

import (
	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Put copies src into dst's copy of the tensor, from its start. It does not signal dst: follow it
// by PutSignal or Barrier, or use PutWithSignal. Between hosts a later Put of the same memory may
// overtake it: a Barrier keeps them in order.
//
// PyTorch: nvshmem_put, nccl_put; get_buffer and copy_
//
// Shapes: src has the type of the tensor and may be shorter.
//
// Synchronises: ordered on the stream; it waits for no other rank.
//
// Options: *Stream, [Via]("NCCL"): ncclPutSignal, by copy engines, within a host and with the back
// end NCCL, of a src that is symmetric, too; Via("NVSHMEM"): nvshmemx_putmem_on_stream, with the back
// end NVSHMEM.
//
// Capture: yes, but for NCCL's way.
//
// Errors: KindMisuse for a dst out of range, a src of another type or that is too long, a library's
// way where it has none.
func (h *Handle) Put(dst int, src *Tensor, opts ...Option) {
	op := operators.Put.Name
	c := h.newCall(operators.Put, opts)
	h.g.peer(op, "dst", dst)
	h.fits(op, "src", src)
	h.carry(c, passage{peer: dst, t: src})
}

// Get copies the start of src's copy of the tensor into dst, as much as dst takes. It does not wait
// for src: precede it by WaitSignal or Barrier.
//
// PyTorch: nvshmem_get, nccl_get; get_buffer and copy_
//
// Shapes: dst has the type of the tensor and may be shorter.
//
// Synchronises: ordered on the stream; it waits for no other rank.
//
// Options: *Stream, [Via]("NVSHMEM"): nvshmemx_getmem_on_stream, with the back end NVSHMEM.
//
// Capture: yes.
//
// Errors: KindMisuse for a src out of range, a dst of another type or that is too long, NVSHMEM's way
// where it has none.
func (h *Handle) Get(src int, dst *Tensor, opts ...Option) {
	op := operators.Get.Name
	c := h.newCall(operators.Get, opts)
	h.g.peer(op, "src", src)
	h.fits(op, "dst", dst)
	h.carry(c, passage{peer: src, t: dst})
}

// fits checks that a tensor can be copied to or from the start of the handle's own.
func (h *Handle) fits(op, arg string, t *Tensor) {
	rt := h.g.rt
	rt.usable(op, t)
	if t.dtype != h.t.dtype {
		panic(rt.misuse(op, arg, "give one of the same type", "%s is %v, the handle's tensor is %v", arg, t.kind(), h.t.kind()))
	}
	if t.n > h.t.n {
		panic(rt.misuse(op, arg, "", "%s has %s, the handle's tensor %d", arg, count.Of(t.n, "element"), h.t.n))
	}
}

// PutWithSignal copies src into dst's copy of the handle's tensor, from its start wherever src
// itself may begin, and then sets 64-bit word sig of dst's signal pad of the tensor to val. To put
// into a part, rendezvous that part; the handles of all slices share the pad, so give each its own
// word.
//
// PyTorch: nvshmem_put_with_signal, nccl_put_with_signal, nccl_put_signal
//
// Shapes: src has the type of the tensor and may be shorter; sig is within the signal pad.
//
// Synchronises: ordered on the stream. A kernel or wait that sees the word sees the data and, unless
// [Weak] is given, this rank's earlier puts to dst. It waits for no other rank.
//
// Options: *Stream, Weak, [Via]("NCCL"): the data as [Handle.Put] has it; Via("NVSHMEM"):
// nvshmemx_putmem_signal_on_stream.
//
// Capture: yes, but for NCCL's way.
//
// Errors: as [Handle.Put]; KindMisuse for a sig out of range.
func (h *Handle) PutWithSignal(dst int, src *Tensor, sig int, val uint64, opts ...Option) {
	op := operators.PutWithSignal.Name
	c := h.newCall(operators.PutWithSignal, opts)
	h.g.peer(op, "dst", dst)
	h.fits(op, "src", src)
	h.word(op, sig)
	h.carry(c, passage{peer: dst, t: src, index: sig, val: val})
}

// PutBlock copies src into a block of dst's copy of the tensor whose first element is (row, col):
// the rows of the block lie a row of the tensor apart. It does not signal dst: see [Handle.Put].
//
// PyTorch: get_buffer, a slice of it, and copy_
//
// Shapes: src and the tensor have two dimensions and the same type; the block lies within the
// tensor.
//
// Synchronises: ordered on the stream; it waits for no other rank.
//
// Options: *Stream.
//
// Capture: yes.
//
// Errors: KindMisuse for a dst out of range, a src that does not fit, a block that leads out of the
// tensor.
func (h *Handle) PutBlock(dst int, src *Tensor, row, col int, opts ...Option) {
	op := operators.PutBlock.Name
	c := h.newCall(operators.PutBlock, opts)
	h.g.peer(op, "dst", dst)
	at := h.block(op, "src", src, row, col)
	h.carry(c, passage{peer: dst, t: src, at: at})
}

// GetBlock copies a block of src's copy of the tensor into dst: the reverse of [Handle.PutBlock].
// It does not wait for src: see [Handle.Get].
//
// PyTorch: get_buffer, a slice of it, and copy_
//
// Shapes: dst and the tensor have two dimensions and the same type; the block lies within the
// tensor.
//
// Synchronises: ordered on the stream; it waits for no other rank.
//
// Options: *Stream.
//
// Capture: yes.
//
// Errors: KindMisuse for a src out of range, a dst that does not fit, a block that leads out of the
// tensor.
func (h *Handle) GetBlock(src int, dst *Tensor, row, col int, opts ...Option) {
	op := operators.GetBlock.Name
	c := h.newCall(operators.GetBlock, opts)
	h.g.peer(op, "src", src)
	at := h.block(op, "dst", dst, row, col)
	h.carry(c, passage{peer: src, t: dst, at: at})
}

// block checks a block of the handle's tensor and returns the bytes to its first element.
func (h *Handle) block(op, arg string, t *Tensor, row, col int) device.Ptr {
	rt := h.g.rt
	rt.usable(op, t)
	switch {
	case len(t.shape) != 2 || len(h.t.shape) != 2:
		panic(rt.misuse(op, arg, "View gives a tensor other dimensions",
			"%s and the handle's tensor have two dimensions, not %v and %v", arg, t.shape, h.t.shape))
	case t.dtype != h.t.dtype:
		panic(rt.misuse(op, arg, "give one of the same type", "%s is %v, the handle's tensor is %v", arg, t.kind(), h.t.kind()))
	case row < 0 || row > h.t.shape[0]-t.shape[0] || col < 0 || col > h.t.shape[1]-t.shape[1]:
		panic(rt.misuse(op, arg, "", "a block of %v at (%d, %d) is not within %v", t.shape, row, col, h.t.shape))
	}
	return device.Ptr((row*h.t.shape[1] + col) * t.dtype.Size())
}
