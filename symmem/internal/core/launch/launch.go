// Package launch makes the parts of a launch of a built-in kernel: its grid, and the bytes of its
// arguments.
package launch

import (
	"unsafe"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// Grid spreads n pieces of work over blocks of at most threads threads, whole warps.
func Grid(n, threads, blocks int) device.Launch {
	threads = min(threads, max(n, 1))
	threads = (threads + 31) &^ 31
	return device.Launch{Grid: [3]int{min(max((n+threads-1)/threads, 1), blocks), 1, 1}, Block: [3]int{threads, 1, 1}, Overlap: true}
}

// Elements spreads n elements over a grid of simple element-wise work, on a device with so many
// processors.
func Elements(n int, p *tuning.Plan, processors int) device.Launch {
	blocks := min((n+p.ElementThreads-1)/p.ElementThreads, p.ElementBlocks*processors)
	return device.Launch{Grid: [3]int{max(blocks, 1), 1, 1}, Block: [3]int{p.ElementThreads, 1, 1}}
}

// OneBlock launches a single block of a kernel that begins with symm::begin.
func OneBlock(threads int) device.Launch {
	return device.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{threads, 1, 1}, Overlap: true}
}

// Arguments has room for the arguments of any built-in kernel.
type Arguments [512]uint64

// In returns the arguments of one kernel in a place for those of any.
func In[T any](a *Arguments) *T {
	var t T
	if unsafe.Sizeof(t) > unsafe.Sizeof(*a) {
		panic("symmem: the arguments of a kernel are too long")
	}
	return (*T)(unsafe.Pointer(a))
}

// Bytes returns the memory of a struct: the arguments of a kernel.
func Bytes[T any](args *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(args)), unsafe.Sizeof(*args))
}

// BytesOfAll returns the memory of the elements of a list.
func BytesOfAll[T any](list []T) []byte {
	if len(list) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), len(list)*int(unsafe.Sizeof(list[0])))
}
