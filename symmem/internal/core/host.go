package symmem

import (
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/core/memory"
)

// Host returns a tensor of zeros in pinned memory of the host, for this rank alone. It is not
// collective. Kernels of the device read and write it over the bus, and copies between it and tensors
// of the device run at the bus's speed, beside kernels on other streams; CopyFrom, Float32s and the
// like work as on every tensor. On the cpu device, whose memory is the host's, it is an ordinary
// tensor. No shape means one element. Free, or the garbage collector, returns the memory.
//
// PyTorch: torch.zeros(pin_memory=True)
//
// Errors: KindMisuse for a shape or a type that is none; KindDevice where the memory cannot be pinned,
// as by a limit of locked memory (ulimit -l).
func (rt *Runtime) Host(dtype DType, shape ...int) *Tensor {
	const op = "Host"
	dtype = rt.typed(dtype)
	n := rt.numel(op, dtype, shape)
	c := rt.ownCall(op)
	defer c.Enter().Leave()
	c.PickStream()
	if rt.info.OnHost {
		return rt.makes(c.zeros(dtype, slices.Clone(shape), n))
	}
	bytes := n * dtype.Size()
	size := (memory.BlockSize(bytes) + hostPage - 1) &^ (hostPage - 1)
	b := rt.takeFrom(op, rt.pinned, size, c.stream, func(size int) (*block, error) { return rt.pin(size, c.stream) })
	t := &Tensor{rt: rt, st: rt.newStorage(b, bytes), dtype: dtype, shape: slices.Clone(shape), n: n}
	if n > 0 {
		c.issued(c.stream.set0(t.pointer(), bytes))
	}
	return rt.makes(t)
}
