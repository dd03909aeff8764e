package symmem

import "github.com/symmrepl/symmrepl/symmem/internal/device"

// StreamWriteValue32 stores val into element offset of t, without a kernel.
//
// PyTorch: stream_write_value32_
//
// Shapes: t is a tensor of U32 of one dimension, this rank's or a view of a peer's, such as Handle.GetSignalPad
// gives.
//
// Synchronises: ordered on the stream: what the stream did before is visible to whoever sees the value. Nobody
// is waited for.
//
// Options: *Stream.
//
// Capture: yes.
//
// Errors: KindMisuse for a t that is not such, an offset outside of it, a val that does not fit.
func (rt *Runtime) StreamWriteValue32(t *Tensor, offset, val int, opts ...Option) {
	const op = "stream_write_value32"
	rt.words(op, t, offset, 1, val)
	rt.onWords(op, t, opts, func(d device.Stream) error {
		return d.Values([]device.Value{{Word: t.pointer() + device.Ptr(4*offset), Value: uint32(val)}})
	})
}

// Memset32 sets count elements of t from offset on to val, without a kernel of symmem's.
//
// PyTorch: memset32_
//
// Shapes: as [Runtime.StreamWriteValue32].
//
// Synchronises: ordered on the stream; nobody is waited for.
//
// Options: *Stream.
//
// Capture: yes.
//
// Errors: as [Runtime.StreamWriteValue32]; KindMisuse for a count that leads out of t.
func (rt *Runtime) Memset32(t *Tensor, offset, val, count int, opts ...Option) {
	const op = "memset32"
	if count <= 0 {
		panic(rt.misuse(op, "count", "", "the count must be positive, not %d", count))
	}
	rt.words(op, t, offset, count, val)
	rt.onWords(op, t, opts, func(d device.Stream) error {
		return d.SetWords(t.pointer()+device.Ptr(4*offset), uint32(val), count)
	})
}

// words checks the arguments of an operation on 32-bit words.
func (rt *Runtime) words(op string, t *Tensor, offset, count, val int) {
	t.live(op)
	switch {
	case t.dtype != U32 || len(t.shape) != 1:
		panic(rt.misuse(op, "t", "see As and View", "the tensor must be a u32 one of one dimension, not %v", t.kind()))
	case offset < 0:
		panic(rt.misuse(op, "offset", "", "the offset must be non-negative, not %d", offset))
	case offset >= t.n:
		panic(rt.misuse(op, "offset", "", "offset %d is not below the %d elements of the tensor", offset, t.n))
	case count > t.n-offset:
		panic(rt.misuse(op, "count", "", "offset %d and count %d exceed the %d elements of the tensor", offset, count, t.n))
	case int(uint32(val)) != val:
		panic(rt.misuse(op, "val", "", "the value must be in [0, 2^32), not %d", val))
	}
}

// onWords issues an operation on words of t, whose arguments were checked.
func (rt *Runtime) onWords(op string, t *Tensor, opts []Option, issue func(device.Stream) error) {
	c := rt.newCall(op, alone, rt.all, ordered, opts)
	defer c.enter().leave()
	c.begin()
	c.admit(t)
	c.issued(c.stream.issue(issue))
}

// GetSignal returns 64-bit word sig of this rank's signal pad of the tensor, once the current stream has come to
// rest. It cannot be captured: a stream waits for a word by WaitForSignal.
func (h *Handle) GetSignal(sig int) uint64 {
	const op = "get_signal"
	h.usable(op)
	h.word(op, sig)
	pad := h.view(op, h.g.rank, &h.kernel.pads, int(h.kernel.padBytes), U64, []int{int(h.kernel.padBytes) / 8})
	return pad.dtype.bitsAt(pad.Slice(sig, sig+1).read(op, 1), 0)
}

// ResetSignal sets 64-bit word sig of this rank's signal pad of the tensor to 0. A peer must not set the word at
// the same time: let it know first, by a Barrier.
//
// PyTorch: none; the wait of NVSHMEM's operations leaves the word to the program too
//
// Shapes: sig is within the signal pad.
//
// Synchronises: ordered on the stream; nobody is waited for.
//
// Options: *Stream.
//
// Capture: yes.
//
// Errors: KindMisuse for a sig out of range.
func (h *Handle) ResetSignal(sig int, opts ...Option) {
	const op = "reset_signal"
	c := h.newCall(op, alone, opts)
	h.word(op, sig)
	defer c.enter().leave()
	c.begin()
	c.admit(h.t)
	c.issued(c.stream.set0(h.kernel.pads[h.g.rank]+device.Ptr(8*sig), 8))
}

// PutBlock copies src into a block of dst's copy of the tensor whose first element is (row, col): the rows of
// the block lie a row of the tensor apart. It does not tell dst: see [Handle.Put].
//
// PyTorch: get_buffer, a slice of it, and copy_
//
// Shapes: src and the tensor have two dimensions and the same type; the block lies within the tensor.
//
// Synchronises: ordered on the stream; nobody is waited for.
//
// Options: *Stream.
//
// Capture: yes.
//
// Errors: KindMisuse for a dst out of range, a src that is not such, a block that leads out of the tensor.
func (h *Handle) PutBlock(dst int, src *Tensor, row, col int, opts ...Option) {
	const op = "put_block"
	c := h.newCall(op, alone, opts)
	h.g.peer(op, "dst", dst)
	at := h.block(op, "src", src, row, col)
	width, pitch := src.shape[1]*src.dtype.Size(), h.t.shape[1]*src.dtype.Size()
	h.moveRows(&c, src, copyRowsArgs{h.kernel.buffers[dst] + at, src.pointer(), uint64(src.shape[0]), uint64(width), uint64(pitch), uint64(width)})
}

// GetBlock copies a block of src's copy of the tensor into dst: the reverse of [Handle.PutBlock]. It does not
// wait for src: see [Handle.Get].
//
// PyTorch: get_buffer, a slice of it, and copy_
//
// Shapes: dst and the tensor have two dimensions and the same type; the block lies within the tensor.
//
// Synchronises: ordered on the stream; nobody is waited for.
//
// Options: *Stream.
//
// Capture: yes.
//
// Errors: KindMisuse for a src out of range, a dst that is not such, a block that leads out of the tensor.
func (h *Handle) GetBlock(src int, dst *Tensor, row, col int, opts ...Option) {
	const op = "get_block"
	c := h.newCall(op, alone, opts)
	h.g.peer(op, "src", src)
	at := h.block(op, "dst", dst, row, col)
	width, pitch := dst.shape[1]*dst.dtype.Size(), h.t.shape[1]*dst.dtype.Size()
	h.moveRows(&c, dst, copyRowsArgs{dst.pointer(), h.kernel.buffers[src] + at, uint64(dst.shape[0]), uint64(width), uint64(width), uint64(pitch)})
}

// block checks a block of the handle's tensor and returns the bytes to its first element.
func (h *Handle) block(op, arg string, t *Tensor, row, col int) device.Ptr {
	rt := h.g.rt
	t.live(op)
	switch {
	case len(t.shape) != 2 || len(h.t.shape) != 2:
		panic(rt.misuse(op, arg, "View gives a tensor other dimensions", "%s and the handle's tensor have two dimensions, not %v and %v", arg, t.shape, h.t.shape))
	case t.dtype != h.t.dtype:
		panic(rt.misuse(op, arg, "", "%s is %v, the handle's tensor is %v", arg, t.kind(), h.t.kind()))
	case row < 0 || row > h.t.shape[0]-t.shape[0] || col < 0 || col > h.t.shape[1]-t.shape[1]:
		panic(rt.misuse(op, arg, "", "a block of %v at (%d, %d) is not within %v", t.shape, row, col, h.t.shape))
	}
	return device.Ptr((row*h.t.shape[1] + col) * t.dtype.Size())
}

// moveRows copies the rows of t to or from a block of a member's copy of the handle's tensor.
func (h *Handle) moveRows(c *call, t *Tensor, a copyRowsArgs) {
	defer c.enter().leave()
	c.begin()
	if t.n == 0 {
		return
	}
	c.admit(t, h.t)
	c.launch("copy_rows", 0, c.rt.gridFor(t.n), bytesOf(&a))
}

// copyRowsArgs is CopyRowsArgs of copy_rows.cu.
type copyRowsArgs struct {
	dst, src           device.Ptr
	rows, width        uint64
	dstPitch, srcPitch uint64
}
