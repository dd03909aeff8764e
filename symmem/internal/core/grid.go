package symmem

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Grid spreads n pieces of work over blocks of at most threads threads, whole warps.
func Grid(n, threads, blocks int) device.Launch {
	threads = min(threads, max(n, 1))
	threads = (threads + 31) &^ 31
	return device.Launch{Grid: [3]int{min(max((n+threads-1)/threads, 1), blocks), 1, 1}, Block: [3]int{threads, 1, 1}, Overlap: true}
}

// MeetingGrid is the grid of a kernel between two barriers in which each member works on n bytes at most, and
// the context of its blocks' signals. loads says that it only loads from peers.
func (c *Call) MeetingGrid(n int, loads bool, head abi.Context) (device.Launch, abi.Context) {
	p := c.rt.plan
	head.Channels = uint32(p.MeetBlocks)
	threads, blocks := p.MeetThreads, p.MeetBlocks
	if loads {
		threads, blocks = p.LoadThreads, p.LoadBlocks
	}
	return Grid((n+15)/16, threads, min(blocks, c.opts.group.work.Processors)), head
}

// ElementGrid is the grid of simple work on each of n elements.
func (c *Call) ElementGrid(n int) device.Launch { return c.rt.gridFor(n) }

// gridFor spreads n elements over a grid of simple element-wise work.
func (rt *Runtime) gridFor(n int) device.Launch {
	p := rt.plan
	blocks := min((n+p.ElementThreads-1)/p.ElementThreads, p.ElementBlocks*rt.info.Processors)
	return device.Launch{Grid: [3]int{max(blocks, 1), 1, 1}, Block: [3]int{p.ElementThreads, 1, 1}}
}

// oneBlock is a launch of a single block of a kernel that begins with symm::begin.
func oneBlock(threads int) device.Launch {
	return device.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{threads, 1, 1}, Overlap: true}
}
