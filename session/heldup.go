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
	much       bool      // the last judgement: the worker has been held up for much of the time since the look before
	held       time.Time // time of the last look at which it had been held up for long
}

// begin restarts the judgement for a run. If simulated ranks share h, only the first call for a run
// counts.
func (h *heldUp) begin(run uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run == run {
		return
	}
	h.run, h.at, h.much = run, time.Time{}, false
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

// now reports whether the worker has been held up for much of the time since the last look, and whether
// it may therefore print a line later than ranks that were not held up: it has foldAge to catch up.
func (h *heldUp) now() (much, late bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	h.judge(now, h.starvation.Look)
	return h.much, now.Sub(h.held) < foldAge
}

// judge judges, unless the last look was just before. look returns the time for which threads have
// waited since it was called last. h.mu is held.
func (h *heldUp) judge(now time.Time, look func() time.Duration) {
	if h.at.IsZero() { // it may have been held up before
		h.at, h.held = now, now
		look()
	} else if over := now.Sub(h.at); over >= starvedOver {
		starved := look()
		h.at, h.much = now, starved > over/starvedPart
		if starved > min(over, foldAge)/starvedPart {
			h.held = now
		}
	}
}
