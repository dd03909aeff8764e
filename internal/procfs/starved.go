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
		_, waited, _ := readQueue(filepath.Join(tasks, thread.Name()))
		sum += waited
	}
	return sum
}

// readQueue returns the schedstat file of a thread, and the time for which the thread has waited for a
// processor up to its last turn. It fails if the thread has ended, or the kernel does not provide the
// numbers.
func readQueue(thread string) (numbers string, waited time.Duration, ok bool) {
	text, err := os.ReadFile(filepath.Join(thread, "schedstat"))
	if err != nil {
		return "", 0, false
	}
	fields := strings.Fields(string(text)) // time on a processor, time in its queue, both in nanoseconds, number of turns
	if len(fields) < 2 {
		return "", 0, false
	}
	nanoseconds, err := strconv.ParseInt(fields[1], 10, 64)
	return string(text), time.Duration(nanoseconds), err == nil
}
