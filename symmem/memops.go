package symmem

import (
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// StreamWriteValue32 stores val into element offset of t, without a kernel.
//
// PyTorch: stream_write_value32_
//
// Shapes: t is a tensor of U32 of one dimension, this rank's or a view of a peer's, such as
// Handle.GetSignalPad gives.
//
// Synchronises: ordered on the stream. A rank that sees the value sees the stream's earlier writes. It
// waits for no other rank.
//
// Options: *Stream.
//
// Capture: yes.
//
// Errors: KindMisuse for a t that does not fit, an offset outside of it, a val that does not fit.
func (rt *Runtime) StreamWriteValue32(t *Tensor, offset, val int, opts ...Option) {
	op := operators.StreamWriteValue32.Name
	rt.words(op, t, offset, 1, val)
	rt.onWords(operators.StreamWriteValue32, t, opts, func(d device.Stream) error {
		return d.Values([]device.Value{{Word: core.Operand(t).Addr() + device.Ptr(4*offset), Value: uint32(val)}})
	})
}

// Memset32 sets count elements of t from offset on to val, without a kernel of symmem's.
//
// PyTorch: memset32_
//
// Shapes: as [Runtime.StreamWriteValue32].
//
// Synchronises: ordered on the stream; it waits for no other rank.
//
// Options: *Stream.
//
// Capture: yes.
//
// Errors: as [Runtime.StreamWriteValue32]; KindMisuse for a count that leads out of t.
func (rt *Runtime) Memset32(t *Tensor, offset, val, count int, opts ...Option) {
	op := operators.Memset32.Name
	if count <= 0 {
		panic(rt.core.Misuse(op, "count", "", "the count must be positive, not %d", count))
	}
	rt.words(op, t, offset, count, val)
	rt.onWords(operators.Memset32, t, opts, func(d device.Stream) error {
		return d.SetWords(core.Operand(t).Addr()+device.Ptr(4*offset), uint32(val), count)
	})
}

// words checks the arguments of an operation on 32-bit words.
func (rt *Runtime) words(op string, t *Tensor, offset, count, val int) {
	rt.core.Usable(op, t)
	switch {
	case t.DType() != U32 || len(core.Operand(t).Dims()) != 1:
		panic(rt.core.Misuse(op, "t", "see As and View", "the tensor must be a u32 one of one dimension, not %v", core.Operand(t).Brief()))
	case offset < 0:
		panic(rt.core.Misuse(op, "offset", "", "the offset must be non-negative, not %d", offset))
	case offset >= t.Numel():
		panic(rt.core.Misuse(op, "offset", "", "offset %d is not below the %d elements of the tensor", offset, t.Numel()))
	case count > t.Numel()-offset:
		panic(rt.core.Misuse(op, "count", "", "offset %d and count %d exceed the %d elements of the tensor", offset, count, t.Numel()))
	case int(uint32(val)) != val:
		panic(rt.core.Misuse(op, "val", "", "the value must be in [0, 2^32), not %d", val))
	}
}

// onWords issues an operation on words of t, whose arguments were checked.
func (rt *Runtime) onWords(of *operators.Operator, t *Tensor, opts []Option, issue func(device.Stream) error) {
	c := rt.core.NewCall(of, rt.Group(), opts)
	defer c.Enter().Leave()
	c.PickStream()
	c.Admit(t)
	c.Issue(issue)
}
