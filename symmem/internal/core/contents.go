package symmem

import (
	"fmt"

	"github.com/symmrepl/symmrepl/symmem/internal/core/memory"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// contents describes a tensor in memory, or the signal pad of a symmetric one.
type contents struct {
	dtype DType
	shape []int // never changed
	pad   bool
}

func (c contents) String() string {
	if c.pad {
		return "the signal pad of a tensor of shape " + fmt.Sprint(c.shape)
	}
	return c.dtype.element().Shaped(c.shape)
}

func (c contents) Element() (name string, bytes int) {
	if c.pad {
		return "word", U32.Size()
	}
	return "element", c.dtype.Size()
}

// location is the place of a tensor or a pad.
type location = memory.Location[contents]

// locate notes where a member's copy of a symmetric tensor and its signal pad lie.
func (a *allocation) locate(rank int, s device.Segment) {
	peer := rank
	if rank == a.rt.rank {
		peer = -1
	}
	data, pad := a.at.DataIn(s), a.at.PadIn(s)
	a.rt.located.Add(data, location{At: data, Bytes: a.size, What: contents{dtype: a.dtype, shape: a.shape}, Peer: peer})
	a.rt.located.Add(pad, location{At: pad, Bytes: a.at.PadBytes, What: contents{shape: a.shape, pad: true}, Peer: peer})
}

// unlocate undoes locate. While accesses are watched, it keeps the names of freed memory, because
// its addresses are not used again soon, except those of a pool.
func (a *allocation) unlocate() {
	end := a.rt.located.Forget
	if a.rt.sanitizer.On() && a.block == nil {
		freer := a.rt.calls.Caller()
		end = func(key device.Ptr) { a.rt.located.Free(key, freer) }
	}
	for _, s := range a.peers {
		end(a.at.DataIn(s))
		end(a.at.PadIn(s))
	}
}

// locateOrdinary notes which tensor a block holds.
func (rt *Runtime) locateOrdinary(b *block, st *storage, dtype DType, shape []int) {
	if rt.info.Guards {
		rt.located.Add(b.Ptr, location{At: st.ptr, Bytes: st.size, What: contents{dtype: dtype, shape: shape}, Peer: -1})
	}
}

// outside describes the access by which a kernel faulted, and reports whether it left a tensor:
// "writes right behind f32[1000], where element 1000 would be".
func (rt *Runtime) outside(f *device.KernelFault) (what string, outside bool) {
	near := ""
	if f.Address != 0 {
		near = rt.located.Nearest(device.Ptr(f.Address))
	}
	switch {
	case near == "":
		return f.What, false
	case f.Write:
		return "writes " + near, true
	}
	return "reads " + near, true
}
