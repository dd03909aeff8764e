package measure

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/internal/count"
)

// Runs are the times of code that all ranks ran several times, by rank and then by run. Ranks began
// each run together.
type Runs struct {
	Took   [][]time.Duration // until the rank's host and device were done
	Device [][]time.Duration // on the current stream
	Host   [][]time.Duration // until the code returned; nil for a graph, which has no host time
	Calls  int               // of a graph: calls in it, whose average each time is; 0 for code that was run itself
	Sent   int               // bytes that a rank must send over its links in one call; 0 if that is not known
	Link   float64           // GB/s each way of the links, as specified; 0 if that is not known
}

// Median is the middle of the times, of an even number the lower middle one; 0 if there are none.
func Median(times []time.Duration) time.Duration {
	if len(times) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(times))[(len(times)-1)/2]
}

// Slowest returns the rank whose median is the largest, and that median.
func (r Runs) Slowest() (rank int, median time.Duration) {
	for i, times := range r.Took {
		if m := Median(times); m > median {
			rank, median = i, m
		}
	}
	return rank, median
}

// Median returns the median of the slowest rank.
func (r Runs) Median() time.Duration {
	_, median := r.Slowest()
	return median
}

// Share is the part of the link's rate that the slowest rank's median on the device uses; 0 if it is
// not known.
func (r Runs) Share() float64 {
	rank, _ := r.Slowest()
	if r.Sent == 0 || r.Link == 0 || rank >= len(r.Device) || Median(r.Device[rank]) == 0 {
		return 0
	}
	return float64(r.Sent) / Median(r.Device[rank]).Seconds() / 1e9 / r.Link
}

// String is a sentence with the slowest rank's figures, and a table of all ranks if there are
// several.
func (r Runs) String() string {
	if len(r.Took) == 0 {
		return "no runs"
	}
	rank, median := r.Slowest()
	times := r.Took[rank]
	var b strings.Builder
	fmt.Fprintf(&b, "%s: median of %s", Short(median), count.Of(len(times), "run"))
	if r.Calls > 0 {
		b.WriteString(" of a graph of " + count.Of(r.Calls, "call"))
	}
	fmt.Fprintf(&b, " on rank %d, the slowest (%s to %s)", rank, Short(slices.Min(times)), Short(slices.Max(times)))
	if r.Host != nil {
		fmt.Fprintf(&b, "; device %s, host %s", Short(Median(r.Device[rank])), Short(Median(r.Host[rank])))
	}
	if share := r.Share(); share > 0 {
		fmt.Fprintf(&b, "\n%d bytes leave each rank: %.0f %% of the link's %.0f GB/s", r.Sent, 100*share, r.Link)
	}
	if len(r.Took) > 1 && r.Host != nil {
		b.WriteString("\nrank      median       least        most      device        host")
		for i, times := range r.Took {
			fmt.Fprintf(&b, "\n%4d  %10s  %10s  %10s  %10s  %10s", i, Short(Median(times)), Short(slices.Min(times)),
				Short(slices.Max(times)),
				Short(Median(r.Device[i])), Short(Median(r.Host[i])))
		}
	}
	return b.String()
}

// whole returns the time of each run until the last rank was done.
func (r Runs) whole() (times []time.Duration) {
	for rank, list := range r.Took {
		for i, took := range list {
			if rank == 0 {
				times = append(times, took)
			}
			times[i] = max(times[i], took)
		}
	}
	return times
}

// Short shows a time by four digits or fewer after the first: "12.34µs".
func Short(d time.Duration) string {
	unit := time.Duration(1)
	for unit*10000 <= d {
		unit *= 10
	}
	return d.Round(unit).String()
}
