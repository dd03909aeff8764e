package session

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/procfs"
)

const (
	// a worker is held up if its threads have waited for processors for more than 1/starvedPart of the time
	starvedPart = 4
	starvedOver = 50 * time.Millisecond // the shortest time over which that is judged
)

// heldUp judges whether this process, a worker, gets enough processor time: on a busy machine its
// threads wait for processors, and it prints later than other ranks. It judges when it is asked,
// from its first look during a run on. Methods may be called from several goroutines.
type heldUp struct {
	mu         sync.Mutex
	run        uint64 // the run that began last
	starvation procfs.Starvation
	at         time.Time // time of the last look
	much, late bool      // the last judgement: see now
}

// begin restarts the judgement for a run. If simulated ranks share h, only the first call for a run
// counts.
func (h *heldUp) begin(run uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run == run {
		return
	}
	h.run, h.at, h.much, h.late = run, time.Time{}, false, false
}

// look takes the first look during the run, unless it was taken.
func (h *heldUp) look() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.at.IsZero() {
		h.judge(time.Now(), h.starvation.Look)
	}
}

// usedCPU returns the processor time of this process in seconds.
func usedCPU() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// now reports whether the worker has been held up since the last look: for much of the time, and so
// long that it may print a line later than ranks that were not held up.
func (h *heldUp) now() (much, late bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.judge(time.Now(), h.starvation.Look)
	return h.much, h.late
}

// judge judges, unless the last look was just before. look returns the time for which threads have
// waited since it was called last. h.mu is held.
func (h *heldUp) judge(now time.Time, look func() time.Duration) {
	if h.at.IsZero() {
		h.at = now
		look()
	} else if over := now.Sub(h.at); over >= starvedOver {
		starved := look()
		h.at, h.much, h.late = now, starved > over/starvedPart, starved > min(over, foldAge)/starvedPart
	}
}
