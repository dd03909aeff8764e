package timeline

import (
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Now is CLOCK_MONOTONIC of this host in nanoseconds, the clock of all times of a [Rank].
func Now() int64 {
	a := origin()
	return a.ns + int64(time.Since(a.here)) // quicker than time.Now, which reads the wall clock too
}

// anchor is a moment by two clocks: Go's, which is CLOCK_MONOTONIC too but hides its value, and
// CLOCK_MONOTONIC.
type anchor struct {
	here time.Time
	ns   int64
}

// origin reads one clock between two looks at the other; of several tries it takes the quickest.
var origin = sync.OnceValue(func() (best anchor) {
	quickest := time.Hour
	for range 20 {
		before := time.Now()
		ns := monotonic()
		if took := time.Since(before); took < quickest {
			quickest, best = took, anchor{before.Add(took / 2), ns}
		}
	}
	return best
})

func monotonic() int64 {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // it fails for no clock that exists
	return t.Nano()
}

// Machine identifies the clock behind [Now]: processes with equal names read the same one. The clock
// belongs to a boot of the kernel and to a time namespace. The name is empty if that is not known.
func Machine() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/time")
	if err != nil {
		space = "time:[]" // a kernel without time namespaces
	}
	return strings.TrimSpace(string(boot)) + " " + space
}

// Resolution is the least difference between two times of [Now], in nanoseconds, as measured: times
// that are nearer cannot be told apart.
func Resolution() int64 {
	least := int64(time.Second)
	for range 200 {
		a := Now()
		b := Now()
		for b == a {
			b = Now()
		}
		least = min(least, b-a)
	}
	return least
}

// Clock is a rank's clock and how it was compared with the reference, the clock of the process to
// which all ranks are connected.
type Clock struct {
	Machine       string     // as Machine says
	Resolution    int64      // as measured on the rank
	Before, After Comparison // with the reference, before and after the recording
	Device        int64      // how far times on streams may be off against those on the host, in nanoseconds
	Why           string     `json:",omitempty"` // why the clock could not be compared
}

// Comparison bounds the lead of a reference over a clock: from Low to High nanoseconds, at the time
// At of that clock.
type Comparison struct{ At, Low, High int64 }

// Compare compares the clock of now with a reference that is one round trip away, by several of
// them. Each shows the reference's time at some moment between two looks at the clock, wherever the
// delay is, so the difference lies within all of their bounds. This is Cristian's method; NTP takes
// the middle of the quickest trip.
func Compare(trips int, now func() int64, reference func() (int64, error)) (Comparison, error) {
	c := Comparison{Low: math.MinInt64, High: math.MaxInt64}
	for range trips {
		began := now()
		there, err := reference()
		ended := now()
		if err != nil {
			return Comparison{}, err
		}
		c.At, c.Low, c.High = ended, max(c.Low, there-ended), min(c.High, there-began)
	}
	if c.Low > c.High {
		return Comparison{}, fmt.Errorf("round trips contradict each other by %v: a clock was set", time.Duration(c.Low-c.High))
	}
	return c, nil
}

// middle is the likely difference, and within how far it may be off.
func (c Comparison) middle() int64 { return c.Low + (c.High-c.Low)/2 }
func (c Comparison) within() int64 { return (c.High - c.Low + 1) / 2 }

// and returns the intersection of two comparisons of one clock at about the same time; false if
// they contradict each other.
func (c Comparison) and(o Comparison) (Comparison, bool) {
	both := Comparison{c.At, max(c.Low, o.Low), min(c.High, o.High)}
	return both, both.Low <= both.High
}
