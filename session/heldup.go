package session

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/procfs"
)

const (
	starvedPart = 4                     // a worker whose threads have waited for processors for longer than this part of the time is held up
	starvedOver = 50 * time.Millisecond // the least time over which that is judged
	starvedFrom = 2 * time.Millisecond  // from when: a look takes a tenth of a millisecond, which short cells need not pay
)

// heldUp tells whether the worker that this process is can go on: on a busy machine its threads wait for processors, and it prints later than
// other ranks do. Methods may be called from several goroutines.
type heldUp struct {
	mu      sync.Mutex
	run     uint64        // that began last
	first   *time.Timer   // takes the first look
	at      time.Time     // of the last look
	starved time.Duration // until then
	is      bool          // as judged last
}

// begin begins to judge anew, shortly after now, for a run: once, if simulated ranks share h.
func (h *heldUp) begin(run uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run == run {
		return
	}
	h.run = run
	if h.first != nil {
		h.first.Stop()
	}
	h.at, h.is = time.Time{}, false
	h.first = time.AfterFunc(starvedFrom, func() { h.now() })
}

// usedCPU is how many seconds of processors this process has used.
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
