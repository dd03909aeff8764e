package limits

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// processorClock calls functions after this process has used processor time. While the code of cells only
// waits, it leaves the process asleep; a timer would wake it each time.
type processorClock struct {
	mu      sync.Mutex
	waiting []func()
	runs    bool // whether run runs
}

// clock is the processor clock of this process.
var clock processorClock

// after calls f in a goroutine of its own when the process has used about clockStep of processor time.
func (c *processorClock) after(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, f)
	if !c.runs {
		c.runs = true
		go c.run()
	}
}

// run calls the functions until none waits. While it sleeps it keeps a thread.
func (c *processorClock) run() {
	for {
		sleepProcessorTime(clockStep)
		c.mu.Lock()
		due := c.waiting
		c.waiting, c.runs = nil, len(due) > 0
		c.mu.Unlock()
		if len(due) == 0 {
			return
		}
		for _, f := range due {
			go f()
		}
	}
}

// clockStep is the processor time between two calls; the kernel looks at it once in 1 to 10 ms.
const clockStep = 5 * time.Millisecond

// sleepProcessorTime sleeps until this process has used d of processor time, or for d where the kernel
// offers no such sleep.
func sleepProcessorTime(d time.Duration) {
	left := unix.NsecToTimespec(int64(d))
	for {
		switch unix.ClockNanosleep(unix.CLOCK_PROCESS_CPUTIME_ID, 0, &left, &left) {
		case nil:
			return
		case unix.EINTR:
		default:
			time.Sleep(d)
			return
		}
	}
}
