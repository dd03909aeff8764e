package run

import (
	"fmt"
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

// memoryLimit is the limit of the machine's memory.
type memoryLimit struct {
	looked  atomic.Uint64 // bytes on the heap when the machine's memory was looked at
	settled atomic.Uint64 // bytes that survived the first collection since code of cells runs, 0 if there was none
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
