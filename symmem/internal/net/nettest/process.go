package nettest

/*
#cgo LDFLAGS: -ldl
#include "process.h"
*/
import "C"

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/kernels/abi"
)

func processState() string {
	var b [8192]C.char
	C.net_process_state(&b[0], C.size_t(len(b)))
	return C.GoString(&b[0])
}

// environment returns the environment variables, except UCX's own, which are set before UCX is opened.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "UCX_") })
}

// untouched: opening and using a network changes neither signal handlers, functions of the C
// library nor the environment, and faults in Go code are still recovered meanwhile.
func untouched(r *Rank) {
	before, variables := processState(), environment()
	r.open()
	var faults atomic.Int64
	var over atomic.Bool
	var others sync.WaitGroup
	others.Go(func() {
		for !over.Load() {
			fault(&faults)
			if faults.Load()%1000 == 0 {
				runtime.GC()
			}
		}
	})
	src := r.alloc(1 << 20)
	for i := range 300 {
		r.post(abi.NetOp{Kind: abi.NetPut, Peer: uint32(1 - r.Rank), Local: local(src), Bytes: uint64(8 << (i % 18)),
			Window: windowID, Counter: abi.NetNoCounter,
			Signal: abi.NetAddIndexed, SignalAt: 1, Value: 1, Strong: 1})
		r.await(1, uint64(i+1))
	}
	over.Store(true)
	others.Wait()
	if n := faults.Load(); n < 100 {
		r.Failf("only %d faults were recovered meanwhile", n)
	}
	if after := processState(); after != before {
		r.Failf("the process was\n%s\nand is\n%s", before, after)
	}
	r.Meet()
	r.Close()
	if after := processState(); after != before {
		r.Failf("after Close the process was\n%s\nand is\n%s", before, after)
	}
	if after := environment(); !slices.Equal(after, variables) {
		r.Failf("after Close the environment was\n%q\nand is\n%q", variables, after)
	}
}

var nowhere *int

func fault(recovered *atomic.Int64) {
	defer func() {
		if recover() != nil {
			recovered.Add(1)
		}
	}()
	*nowhere = 1
}
