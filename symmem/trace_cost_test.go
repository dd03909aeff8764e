package symmem

import (
	"fmt"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/devices"
)

// processorTime is what this process has used.
func processorTime(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTraceCost prints the processor time of a cell of 1,000 calls without and with a trace, in
// turns; recording includes the comparison of clocks, and StopTrace the record.
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
	const calls, rounds = 1000, 20
	w := tabwriter.NewWriter(b.Output(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "1,000 calls of\twithout\twith a trace\trecording\ttaking the record")
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
		var without, with, taking time.Duration
		for range rounds {
			at := processorTime(b)
			cell()
			without += processorTime(b) - at
			rt.StartTrace()
			at = processorTime(b)
			cell()
			with += processorTime(b) - at
			at = processorTime(b)
			rt.StopTrace()
			taking += processorTime(b) - at
		}
		ms := func(d time.Duration) string { return fmt.Sprintf("%.2f ms", d.Seconds()*1000/rounds) }
		fmt.Fprintf(w, "%d KiB\t%s\t%s\t%+.1f %%\t%s\n", n*4>>10, ms(without), ms(with), 100*(with-without).Seconds()/without.Seconds(), ms(taking))
		x.Free()
	}
	w.Flush()
}
