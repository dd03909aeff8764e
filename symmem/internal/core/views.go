package symmem

import (
	"slices"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// The views that a handle has of the members' memory: of their copies of the tensor, and of their
// signal pads. They end with the handle's tensor. Pointers to the memory of other hosts do not
// exist: a view of it is refused.

// GetBuffer is a tensor over the memory of peer, a rank of the handle's group, from the start of
// the allocation, whatever the handle's offset. It is refused if it exceeds the allocation. It ends
// with the handle's tensor.
func (h *Handle) GetBuffer(peer int, dtype DType, shape ...int) *Tensor {
	return h.bufferAt("GetBuffer", peer, 0, dtype, shape)
}

// GetBufferAt is [Handle.GetBuffer] from element offset of the allocation on, counted in elements of
// dtype.
func (h *Handle) GetBufferAt(peer, offset int, dtype DType, shape ...int) *Tensor {
	return h.bufferAt("GetBufferAt", peer, offset, dtype, shape)
}

func (h *Handle) bufferAt(op string, peer, offset int, dtype DType, shape []int) *Tensor {
	h.usable(op)
	return h.view(op, peer, h.base, h.a.size, offset, dtype, shape)
}

// GetRemoteTensor is the copy of the handle's tensor of peer, a rank of the handle's group. It ends
// with the handle's tensor.
func (h *Handle) GetRemoteTensor(peer int) *Tensor {
	return h.remote("GetRemoteTensor", peer)
}

// GetRemoteTensors lists the members' copies of the handle's tensor, by rank in the handle's group:
// nil for members on other hosts. This rank's own is among them.
func (h *Handle) GetRemoteTensors() []*Tensor {
	const op = "GetRemoteTensors"
	h.usable(op)
	list := make([]*Tensor, len(h.g.ranks))
	for i := range list {
		if h.g.split.Near(i) {
			list[i] = h.remote(op, i)
		}
	}
	return list
}

func (h *Handle) remote(op string, peer int) *Tensor {
	h.usable(op)
	return h.view(op, peer, h.buffers, h.t.Bytes(), 0, h.t.dtype, h.t.shape)
}

// GetSignalPad is the whole signal pad of the tensor of peer, a rank of the handle's group, as U32.
func (h *Handle) GetSignalPad(peer int) *Tensor {
	const op = "GetSignalPad"
	h.usable(op)
	n := int(h.kernel.PadBytes)
	return h.view(op, peer, h.pads, n, 0, U32, []int{n / U32.Size()})
}

// GetSignalPadAt is a part of the signal pad of the tensor of peer, a rank of the handle's group:
// from element offset on, counted in elements of dtype. No shape means all elements from there on.
// It is refused if it exceeds the pad.
func (h *Handle) GetSignalPadAt(peer, offset int, dtype DType, shape ...int) *Tensor {
	const op = "GetSignalPadAt"
	h.usable(op)
	n := int(h.kernel.PadBytes)
	if len(shape) == 0 && h.g.rt.numel(op, dtype, nil) == 1 {
		shape = []int{max(n/dtype.Size()-offset, 0)}
	}
	return h.view(op, peer, h.pads, n, offset, dtype, shape)
}

// view is a tensor over a part of the limit bytes at base[peer], from element offset on.
func (h *Handle) view(op string, peer int, base []device.Ptr, limit, offset int, dtype DType, shape []int) *Tensor {
	rt := h.g.rt
	rank := h.g.peer(op, "peer", peer)
	h.g.reach(op, peer, "")
	n := rt.numel(op, dtype, shape)
	size := dtype.Size()
	if offset < 0 || offset > limit/size {
		panic(rt.misuse(op, "offset", "", "the offset must be in [0, %d], not %d: it counts elements of %v", limit/size, offset, dtype))
	}
	if room := limit/size - offset; n > room {
		if offset == 0 {
			panic(rt.misuse(op, "shape", "", "%s needs %s and exceeds the allocated size of %d",
				dtype.element().Shaped(shape), count.Of(n*size, "byte"), limit))
		}
		panic(rt.misuse(op, "shape", "", "%s from element %d on exceeds the allocated size of %d bytes: %s left",
			dtype.element().Shaped(shape), offset, limit, count.Of(room, "element")))
	}
	st := &storage{ptr: base[peer] + device.Ptr(offset*size), size: n * size, alloc: h.a, own: h.t.st, peer: rank}
	return &Tensor{rt: rt, st: st, dtype: dtype, shape: slices.Clone(shape), n: n}
}
