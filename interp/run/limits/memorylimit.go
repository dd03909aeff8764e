package limits

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/interp/run/faults"
)

const (
	// heapStep is the growth of the heap after which the machine's memory is checked again.
	heapStep = 64 << 20
	// Cells leave one part in keptPart of the machine's memory free (or of the memory that this
	// process may use), but not more than maxKept.
	keptPart = 16
	maxKept  = 8 << 30
)

// memoryLimit limits the memory of values: to most bytes in this process, and to the memory of the
// machine.
type memoryLimit struct {
	looked atomic.Uint64 // bytes on the heap when the machine's memory was last checked
	// bytes that survived the first collection since code of cells began to run, 0 if there was
	// none
	settled atomic.Uint64
	// most is the number of bytes that the values of cells may take, not counting garbage.
	most uint64
	// available returns the number of bytes of memory that the process may still allocate, and the
	// total.
	available func() (free, total uint64)
}

// sampleHeap returns the number of bytes on the heap, including garbage, and the number of bytes
// that were ever allocated there.
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
		// Memory allocated since the check began may be garbage already, and it is much if this
		// process had to wait for a processor. It counts as free as long as the surviving memory
		// does not grow.
		if heap < settled+heapStep {
			free += since
		}
	}
	l.looked.Store(heap)
	if free >= kept {
		return "", "", ""
	}
	return "out of memory", fmt.Sprintf("values take %d MB here, and %d MB of %d MB in all are left", heap>>20, free>>20, total>>20),
		"set variables with large values to nil, or define them again"
}

// memoryHint tells users how to make room for values.
const memoryHint = "set variables with large values to nil, or define them again; " +
	"to permit more, set for example GOMEMLIMIT=32GiB in the environment of symmrepl"

// permitted returns the sentence that names the memory that values may take.
func (l *memoryLimit) permitted() string {
	return fmt.Sprintf("values may take %d MB on this rank", l.most>>20)
}

// collect collects garbage and returns the least number of bytes that values take. A collection
// keeps all memory that code allocates meanwhile, which is much if this process has to wait for a
// processor; that memory is not counted. Memory is not returned to the system here: that takes
// long, and the memory that code allocates during it would not count either, so that code which
// allocates quickly would never be stopped.
func collect() (live uint64) {
	live = math.MaxUint64
	for range 2 {
		_, before := sampleHeap()
		runtime.GC()
		_, after := sampleHeap()
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		marked := sample[0].Value.Uint64()
		live = min(live, marked-min(marked, after-before))
	}
	return live
}

// reserve panics if there is no room for another value of so many bytes.
func (l *memoryLimit) reserve(bytes uint64) {
	if heap, _ := sampleHeap(); heap+bytes <= l.most {
		return
	}
	if bytes <= l.most && collect()+bytes <= l.most {
		return
	}
	panic(memoryError{fmt.Sprintf("out of memory: a value of %d MB is made, and %s", bytes>>20, l.permitted())})
}

// memoryError is the panic of code of a cell that makes a value for which there is no room.
type memoryError struct{ text string }

func (e memoryError) Error() string { return e.text }

// RuntimeError marks a memoryError as a runtime.Error.
func (memoryError) RuntimeError() {}

// Hint tells users what to do.
func (memoryError) Hint() string { return memoryHint }

// Room returns n if there is room for n elements of each bytes, and panics otherwise. Above maxMade
// bytes it panics with Go's own error, which begins with what; if what is "", it leaves that check
// to the code that allocates.
func (l *Limits) Room(n, each int64, what string) int64 {
	switch {
	case n > maxMade/each && what != "":
		panic(faults.Error(what + " out of range"))
	case n > heapStep/each && n <= maxMade/each:
		l.values.reserve(uint64(n * each))
	}
	return n
}

// RoomInt is Room for n copies of a value of each bytes.
func (l *Limits) RoomInt(n, each int) int { return int(l.Room(int64(n), int64(max(each, 1)), "")) }

// maxMade is the largest number of bytes that Go tries to allocate.
const maxMade = 1 << 48

// MemoryShare returns the number of bytes that the values of one process may take if a number of
// processes share the machine: the environment variable GOMEMLIMIT if it is set, or else a third of
// the free memory divided by the number of processes. A slice or string that grows needs room for
// both the old and the new one.
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

// minShare is the least share of the free memory that MemoryShare returns.
const minShare = 256 << 20
