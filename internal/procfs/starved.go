package procfs

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Starved returns the time for which the live threads of this process have waited for a processor
// while they could run, up to their last turn. It is 0 if the kernel does not provide the time.
// Starvation counts waits that last, too.
func Starved() time.Duration { return starved("/proc/self/task") }

func starved(tasks string) (sum time.Duration) {
	threads, err := os.ReadDir(tasks)
	if err != nil {
		return 0
	}
	for _, thread := range threads {
		text, err := os.ReadFile(filepath.Join(tasks, thread.Name(), "schedstat"))
		if err != nil {
			continue // the thread has ended
		}
		if fields := strings.Fields(string(text)); len(fields) >= 2 { // time on a processor, time in its queue, both in nanoseconds
			waited, _ := strconv.ParseInt(fields[1], 10, 64)
			sum += time.Duration(waited)
		}
	}
	return sum
}
