package limits

import (
	"runtime"
	"runtime/metrics"
	"syscall"
	"time"
)

// Deadline limits how long the runtime waits for code of cells. While that code could run, only the
// time counts in which this process had a processor: on a loaded machine, code that is about to end
// may get no processor for a while. The caller of Over calls it every few milliseconds.
type Deadline struct {
	left time.Duration
	at   time.Time     // time of the last call of Over
	used time.Duration // processor time of this process until then
}

// yields is the number of times that Over lets other goroutines run before it checks whether any
// can run. Goroutines that only poll, as Over's caller does, are waiting again by then.
const yields = 4

// NewDeadline returns a Deadline that is over after d.
func NewDeadline(d time.Duration) *Deadline {
	return &Deadline{left: d, at: time.Now(), used: ProcessorTime()}
}

// Over reports whether the time has passed.
func (p *Deadline) Over() bool {
	othersCan := OthersCanRun()
	for range yields {
		if !othersCan {
			break
		}
		runtime.Gosched()
		othersCan = OthersCanRun()
	}
	now, used := time.Now(), ProcessorTime()
	passed := now.Sub(p.at)
	if othersCan {
		passed = min(passed, used-p.used)
	}
	p.at, p.used, p.left = now, used, p.left-passed
	return p.left <= 0
}

// Wait reports whether done was closed before the deadline.
func (p *Deadline) Wait(done <-chan struct{}) bool {
	for {
		select {
		case <-done:
			return true
		case <-time.After(2 * time.Millisecond):
			if p.Over() {
				return false
			}
		}
	}
}

// ProcessorTime returns the processor time that this process has used.
func ProcessorTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// OthersCanRun reports whether any goroutine but the caller runs, or would if there were a processor for it.
func OthersCanRun() bool {
	samples := []metrics.Sample{{Name: "/sched/goroutines/running:goroutines"}, {Name: "/sched/goroutines/runnable:goroutines"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64()+samples[1].Value.Uint64() > 1
}
