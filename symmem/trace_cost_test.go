package symmem

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/devices"
)

// processorTime returns the processor time that this process has used.
func processorTime(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTraceCost prints the processor time of a cell of 1,000 calls without and with a trace: medians
// of pairs of runs, of which every other one runs in the other order, and the median and the quartiles
// of the pairs' relative differences; and the same of pairs without a trace in either run, which shows
// what the machine alone makes them differ by. Garbage is collected before each run, from a heap
// of the size that an interpreter has, so that a run pays for its own.
func BenchmarkTraceCost(b *testing.B) {
	d, err := cpu.Open(0)
	if err != nil {
		b.Fatal(err)
	}
	kind, err := devices.Find("cpu")
	if err != nil {
		b.Fatal(err)
	}
	rt, err := newRuntime(kind, d, 0, Config{Caller: func() int { return 1 }})
	if err != nil {
		b.Fatal(err)
	}
	defer rt.Close()
	const calls, rounds = 1000, 60
	interpreter := make([]byte, 32<<20)
	defer runtime.KeepAlive(interpreter)
	w := tabwriter.NewWriter(b.Output(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "1,000 calls of\twithout\twith a trace\trecording (quartiles)\tnothing (quartiles)\ttaking the record")
	for _, n := range []int{1 << 10, 1 << 14, 1 << 18} {
		x := rt.Empty(F32, n)
		h := rt.Rendezvous(x)
		y := rt.Local(F32, n)
		cell := func() {
			for i := range calls / 4 {
				x.Fill(i)
				h.Put(0, y)
				rt.AllReduce(x, "sum")
				h.Barrier(0)
			}
			rt.Synchronize()
		}
		cell()
		run := func(traced bool) (took, taking float64) {
			if traced {
				rt.StartTrace()
			}
			runtime.GC()
			at := processorTime(b)
			cell()
			took = (processorTime(b) - at).Seconds()
			if traced {
				at = processorTime(b)
				rt.StopTrace()
				taking = (processorTime(b) - at).Seconds()
			}
			return took, taking
		}
		var without, with, taking, recording, nothing []float64
		for i := range min(rounds, rounds<<16/n) {
			var plain, traced, took float64
			if i%2 == 0 {
				plain, _ = run(false)
				traced, took = run(true)
			} else {
				traced, took = run(true)
				plain, _ = run(false)
			}
			again, _ := run(false)
			without, with, taking = append(without, plain), append(with, traced), append(taking, took)
			recording, nothing = append(recording, 100*(traced/plain-1)), append(nothing, 100*(again/plain-1))
		}
		at := func(list []float64, part float64) float64 {
			slices.Sort(list)
			return list[int(part*float64(len(list)-1)+0.5)]
		}
		ms := func(list []float64) string { return fmt.Sprintf("%.2f ms", 1000*at(list, 0.5)) }
		spread := func(list []float64) string {
			return fmt.Sprintf("%+.1f %% (%+.1f to %+.1f)", at(list, 0.5), at(list, 0.25), at(list, 0.75))
		}
		fmt.Fprintf(w, "%d KiB\t%s\t%s\t%s\t%s\t%s\n", n*4>>10, ms(without), ms(with), spread(recording), spread(nothing), ms(taking))
		x.Free()
	}
	w.Flush()
}
