package run

import (
	"fmt"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

const (
	// heapStep is by how much the heap grows until the machine's memory is looked at again.
	heapStep = 64 << 20
	// Cells leave a sixteenth of the machine's memory, or of what this process may have of it, but not more than maxKept.
	keptPart = 16
	maxKept  = 8 << 30
)

// memoryLimit is the limit of the memory that values take: most for this process, and what the machine has.
type memoryLimit struct {
	looked  atomic.Uint64 // bytes on the heap when the machine's memory was looked at
	settled atomic.Uint64 // bytes that survived the first collection since code of cells runs, 0 if there was none
	// most is how many bytes the values of cells may take, garbage not counted.
	most uint64
	// available returns how many bytes of memory the process may still take, and how many there are.
	available func() (free, total uint64)
}

// sampleHeap returns how many bytes are on the heap, garbage included, and how many were ever allocated there.
func sampleHeap() (heap, allocated uint64) {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64(), samples[1].Value.Uint64()
}

func (l *memoryLimit) begin() {
	heap, _ := sampleHeap()
	l.looked.Store(heap)
	l.settled.Store(0)
}

func (l *memoryLimit) exceeded() (what, detail, hint string) {
	heap, before := sampleHeap()
	if heap < l.looked.Load()+heapStep {
		return "", "", ""
	}
	if heap > l.most {
		if live := collect(); live > l.most {
			return "out of memory", fmt.Sprintf("values take %d MB here, and %s", live>>20, l.permitted()), memoryHint
		}
	}
	free, total := l.available()
	kept := min(total/keptPart, maxKept)
	if free < kept {
		debug.FreeOSMemory()
		free, _ = l.available()
		var allocated uint64
		heap, allocated = sampleHeap()
		since := min(heap, allocated-before)
		heap -= since
		settled := l.settled.Load()
		if settled == 0 || heap < settled {
			settled = heap
			l.settled.Store(settled)
		}
		// What was allocated meanwhile, which is much when this process has to wait for a processor, may be garbage again, as long as what survives
		// does not grow.
		if heap < settled+heapStep {
			free += since
		}
	}
	l.looked.Store(heap)
	if free >= kept {
		return "", "", ""
	}
	return "out of memory", fmt.Sprintf("values take %d MB here, and of %d MB in all %d MB are left", heap>>20, total>>20, free>>20),
		"set variables that hold much to nil, or define them again"
}

// memoryHint says what to do when values take more than they may.
const memoryHint = "set variables that hold much to nil, or define them again; GOMEMLIMIT=32GiB in the environment of symmrepl, for one, permits more"

// permitted says how much values may take.
func (l *memoryLimit) permitted() string {
	return fmt.Sprintf("values may take %d MB on this rank", l.most>>20)
}

// collect collects garbage, gives its memory back, and returns how many bytes values take. What is allocated during a collection counts, and is mostly
// garbage if the next one finds less.
func collect() (live uint64) {
	live = math.MaxUint64
	for range 2 {
		debug.FreeOSMemory()
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		live = min(live, sample[0].Value.Uint64())
	}
	return live
}

// reserve panics if there is no room for one more value of so many bytes.
func (l *memoryLimit) reserve(bytes uint64) {
	if heap, _ := sampleHeap(); heap+bytes <= l.most {
		return
	}
	if bytes <= l.most && collect()+bytes <= l.most {
		return
	}
	panic(memoryError{fmt.Sprintf("out of memory: a value of %d MB is made, and %s", bytes>>20, l.permitted())})
}

// memoryError is what the code of a cell panics with that makes a value for which there is no room.
type memoryError struct{ text string }

func (e memoryError) Error() string { return e.text }

// RuntimeError marks it as a runtime.Error.
func (memoryError) RuntimeError() {}

// Hint says what to do.
func (memoryError) Hint() string { return memoryHint }

// room returns n, for n elements of each bytes that a cell is about to make. It panics if there is no room for them; of more than maxMade Go itself says that what
// it makes is too much, unless that is "".
func (rt *Runtime) room(n, each int64, what string) int64 {
	switch {
	case n > maxMade/each && what != "":
		panic(runtimeError(what + " out of range"))
	case n > heapStep/each && n <= maxMade/each:
		rt.memory.limit.(*memoryLimit).reserve(uint64(n * each))
	}
	return n
}

// roomInt is room for n copies of a value of each bytes.
func (rt *Runtime) roomInt(n, each int) int { return int(rt.room(int64(n), int64(max(each, 1)), "")) }

// maxMade is the largest number of bytes that Go tries to allocate.
const maxMade = 1 << 48

// MemoryShare returns how many bytes the values of a process may take, if so many processes share the machine: what the environment variable GOMEMLIMIT says, or
// else a third of what is free now, divided among them. A slice or string that grows needs room for both the old and the new one.
func MemoryShare(processes int) uint64 {
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		return uint64(limit)
	}
	free, total := availableMemory()
	if total == 1 { // unknown
		return math.MaxInt64
	}
	return max(free/3/uint64(max(processes, 1)), minShare)
}

// minShare is the least that MemoryShare returns of what is free.
const minShare = 256 << 20
