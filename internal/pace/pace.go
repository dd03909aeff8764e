// Package pace gives tests limits of time that follow the pace of the machine.
package pace

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

// Unhurried returns how long something may take that takes d on a quiet machine: longer by as many
// times as there are threads that want to run for each processor.
func Unhurried(d time.Duration) time.Duration {
	var load float64
	if data, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Sscan(string(data), &load)
	}
	return time.Duration(float64(d) * max(1, load/float64(runtime.NumCPU())))
}
