package nettest

import (
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/symmrepl/symmrepl/kernels/abi"
)

// perf measures the provider; rank 0 prints the results.
func perf(r *Rank) {
	r.open()
	src := r.alloc(2 << 20)
	peer := 1 - r.Rank
	put := func(n int) {
		r.post(abi.NetOp{Kind: abi.NetPut, Peer: uint32(peer), Local: local(src), Bytes: uint64(n), Window: windowID,
			Counter: abi.NetNoCounter,
			Signal:  abi.NetAddIndexed, Value: 1, Strong: 1})
	}
	seen := uint64(0)
	for _, n := range []int{0, 8, 4096, 65536, 1 << 20} {
		times := make([]time.Duration, 1000)
		if n > 4096 {
			times = times[:100]
		}
		r.Meet()
		for i := range times {
			start := time.Now()
			seen++
			if r.Rank == 0 {
				put(n)
				r.spin(0, seen)
			} else {
				r.spin(0, seen)
				put(n)
			}
			times[i] = time.Since(start) / 2
		}
		slices.Sort(times)
		if r.Rank == 0 {
			fmt.Fprintf(os.Stderr, "put %7d B with signal, one way: min %6.2f us, p50 %6.2f us\n", n, times[0].Seconds()*1e6,
				times[len(times)/2].Seconds()*1e6)
		}
	}
	streams := uint64(0)
	for _, n := range []int{8, 32 << 10, 2 << 20} {
		count := max(64, min(4096, 64<<20/n))
		best := time.Hour
		for range 5 {
			streams++
			r.Meet()
			start := time.Now()
			if r.Rank == 0 {
				for range count {
					r.put(peer, src[:n], 0)
				}
				r.signal(peer, 1, 1)
				r.spin(2, streams)
				best = min(best, time.Since(start))
			} else {
				r.spin(1, streams)
				r.signal(peer, 2, 1)
				r.flush()
			}
		}
		if r.Rank == 0 {
			fmt.Fprintf(os.Stderr, "puts of %7d B: %6.2f us each, %.2f GB/s\n", n, best.Seconds()*1e6/float64(count),
				float64(n)*float64(count)/best.Seconds()/1e9)
		}
	}
	r.Meet()
	r.Close()
}

// spin waits like a kernel, and yields.
func (r *Rank) spin(word int, least uint64) {
	for atomic.LoadUint64(&r.Signals()[word]) < least {
		syscall.Syscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
	}
}
