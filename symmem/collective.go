package symmem

import (
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// home is the group that an operation on t uses by default: the one that allocated it.
func (rt *Runtime) home(t *Tensor) *Group {
	if a := t.st.alloc; a != nil {
		return a.group
	}
	return rt.all
}

// at is where member i has its copy of t, which belongs to the handle's allocation.
func (h *Handle) at(i int, t *Tensor) device.Ptr { return h.base[i] + device.Ptr(t.offset) }

// grid spreads n pieces of work over blocks of at most threads threads, whole warps.
func grid(n, threads, blocks int) device.Launch {
	threads = min(threads, max(n, 1))
	threads = (threads + 31) &^ 31
	return device.Launch{Grid: [3]int{min(max((n+threads-1)/threads, 1), blocks), 1, 1}, Block: [3]int{threads, 1, 1}, Overlap: true}
}

// meetingGrid is the grid of a kernel between two barriers in which each member works on n bytes at most, and
// the context of its blocks' signals. loads says that it only loads from peers.
func (g *Group) meetingGrid(n int, loads bool, c kernelContext) (device.Launch, kernelContext) {
	p := g.rt.plan()
	c.channels = uint32(p.meetBlocks)
	threads, blocks := p.meetThreads, p.meetBlocks
	if loads {
		threads, blocks = p.loadThreads, p.loadBlocks
	}
	return grid((n+15)/16, threads, min(blocks, g.work.processors)), c
}

// overlap reports whether two tensors share bytes.
func overlap(a, b *Tensor) bool {
	return a.pointer() < b.pointer()+device.Ptr(b.Bytes()) && b.pointer() < a.pointer()+device.Ptr(a.Bytes())
}

// kernelNames are names of kernels by element type.
type kernelNames [F8E5M2 + 1]string

func namesOf(prefix string) (names kernelNames) {
	for d := F16; d <= U64; d++ {
		names[d] = prefix + d.String()
	}
	return names
}
