package worker

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/procfs"
	"github.com/symmrepl/symmrepl/session/fold"
	"github.com/symmrepl/symmrepl/session/wire"
)

const (
	// a worker is held up if its threads have waited for processors for more than 1/starvedPart of the time
	starvedPart = 4
	starvedOver = 50 * time.Millisecond // the shortest time over which that is judged
)

// heldUp judges whether this process, a worker, gets enough processor time: on a busy machine its
// threads wait for processors, or for pages that were taken from it, and it prints later than other
// ranks. It judges when it is asked, from its first look during a run on. Methods may be called from
// several goroutines.
type heldUp struct {
	mu         sync.Mutex
	run        uint64 // the run that began last
	starvation procfs.Starvation
	used       usage         // until the last look
	at         time.Time     // time of the last look
	slow       wire.Slowness // the last judgement, about the time since the look before
	held       time.Time     // time of the last look at which it had been held up for long
}

// here judges this process.
var here heldUp

// begin restarts the judgement for a run. If ranks of tests share the process, only the first call for a
// run counts.
func (h *heldUp) begin(run uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run == run {
		return
	}
	h.run, h.at, h.slow = run, time.Time{}, 0
}

// look takes the first look during the run, unless it was taken.
func (h *heldUp) look() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.at.IsZero() {
		h.judge(time.Now(), h.starvation.Look, usedSoFar)
	}
}

// now returns the slowness of the worker since the last look, and reports whether it may print a line
// later than ranks that were not held up: it has Age to catch up.
func (h *heldUp) now() (slow wire.Slowness, late bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	h.judge(now, h.starvation.Look, usedSoFar)
	return h.slow, now.Sub(h.held) < fold.Age
}

// usage is the consumption of a process.
type usage struct {
	cpu    time.Duration // processor time
	faults int64         // page faults that read from a disk
}

// usedSoFar returns the consumption of this process until now.
func usedSoFar() usage {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return usage{}
	}
	return usage{time.Duration(u.Utime.Nano() + u.Stime.Nano()), u.Majflt}
}

// judge judges, unless the last look was just before. look returns the time for which threads have
// waited since it was called last, used is usedSoFar. h.mu is held.
func (h *heldUp) judge(now time.Time, look func() time.Duration, used func() usage) {
	over, first := now.Sub(h.at), h.at.IsZero()
	if !first && over < starvedOver {
		return
	}
	starved, sum := look(), used()
	if first || starved > min(over, fold.Age)/starvedPart || sum.faults > h.used.faults { // before the first look it may have been held up
		h.held = now
	}
	h.slow = 0
	if !first && starved > over/starvedPart {
		h.slow = wire.SlownessOf(sum.cpu-h.used.cpu, starved)
	}
	h.at, h.used = now, sum
}
