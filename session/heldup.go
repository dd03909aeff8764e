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
	mu      sync.Mutex
	run     uint64        // the run that began last
	at      time.Time     // time of the last look
	starved time.Duration // time that threads had waited for processors until then
	is      bool          // the last judgement
}

// begin restarts the judgement for a run. If simulated ranks share h, only the first call for a run
// counts.
func (h *heldUp) begin(run uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run == run {
		return
	}
	h.run, h.at, h.is = run, time.Time{}, false
}

// look takes the first look during the run, unless it was taken.
func (h *heldUp) look() {
	h.mu.Lock()
	first := h.at.IsZero()
	h.mu.Unlock()
	if first {
		h.now()
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

// now reports whether the worker has been held up lately.
func (h *heldUp) now() bool { return h.judge(time.Now(), procfs.Starved()) }

func (h *heldUp) judge(now time.Time, starved time.Duration) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.at.IsZero() {
		h.at, h.starved = now, starved
	} else if over := now.Sub(h.at); over >= starvedOver {
		h.is = starved-h.starved > over/starvedPart
		h.at, h.starved = now, starved
	}
	return h.is
}
