// Package pace gives tests limits of time that follow the pace of the machine.
package pace

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"
)

// Unhurried returns the time that may be taken by work that takes d on a quiet machine. It
// multiplies d by the number of threads that want to run for each processor, over the last minute
// or just now, whichever is greater. Call it when the time is over, as the load may have come
// meanwhile.
func Unhurried(d time.Duration) time.Duration {
	data, _ := os.ReadFile("/proc/loadavg")
	return time.Duration(float64(d) * max(1, load(string(data))/float64(runtime.NumCPU())))
}

// WithTimeout returns a context that ends when work has taken longer than d at the pace of the
// machine. Call cancel when the work is done.
func WithTimeout(parent context.Context, d time.Duration) (ctx context.Context, cancel context.CancelFunc) {
	ctx, cancel = context.WithCancel(parent)
	began := time.Now()
	go func() {
		for left := d; left > 0; left = Unhurried(d) - time.Since(began) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(left):
			}
		}
		cancel()
	}()
	return ctx, cancel
}

// load returns the number of threads that want to run, of a line of /proc/loadavg, or 0. The average
// follows a burst of load slowly, the count of the moment includes the caller.
func load(line string) float64 {
	var minute, five, fifteen, now float64
	if n, _ := fmt.Sscanf(line, "%f %f %f %f/", &minute, &five, &fifteen, &now); n < 4 {
		return 0
	}
	return max(minute, now-1)
}
