package run

import (
	"runtime"
	"runtime/metrics"
	"syscall"
	"time"
)

// Deadline is how long to wait for code of cells to end. Time in which that could run counts only as far as this process had a processor: on a machine under
// load, code that would end soon may not run for long. It counts while over is called every few milliseconds.
type Deadline struct {
	left time.Duration
	at   time.Time     // of the last call
	used time.Duration // by this process, of the processors, until then
}

// yields is how often others may go first. What looks at something every few milliseconds, as this does, and waits again at once is through by then.
const yields = 4

func NewDeadline(d time.Duration) *Deadline {
	return &Deadline{left: d, at: time.Now(), used: ProcessorTime()}
}

func (p *Deadline) over() bool {
	othersCan := othersCanRun()
	for range yields {
		if !othersCan {
			break
		}
		runtime.Gosched()
		othersCan = othersCanRun()
	}
	now, used := time.Now(), ProcessorTime()
	passed := now.Sub(p.at)
	if othersCan {
		passed = min(passed, used-p.used)
	}
	p.at, p.used, p.left = now, used, p.left-passed
	return p.left <= 0
}

// Wait reports whether done was closed before patience was over.
func (p *Deadline) Wait(done <-chan struct{}) bool {
	for {
		select {
		case <-done:
			return true
		case <-time.After(2 * time.Millisecond):
			if p.over() {
				return false
			}
		}
	}
}

// ProcessorTime is how long this process has used processors.
func ProcessorTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// othersCanRun reports whether any goroutine but the caller runs, or would if there were a processor for it.
func othersCanRun() bool {
	samples := []metrics.Sample{{Name: "/sched/goroutines/running:goroutines"}, {Name: "/sched/goroutines/runnable:goroutines"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64()+samples[1].Value.Uint64() > 1
}
