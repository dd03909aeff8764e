package procfs

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Starvation measures how long the threads of this process wait for a processor while they could
// run. The zero value has not looked yet. Its user serializes the calls.
type Starvation struct {
	tasks   string // replaces /proc/self/task in tests
	threads map[string]turns
}

// turns is the state of a thread at a look.
type turns struct {
	numbers string        // its schedstat file, which changes only when the thread gets or leaves a processor, and while it has one
	starved time.Duration // time for which it has waited
	queued  time.Time     // time of the first look since which it has waited without a turn; zero if it does not wait
}

// Look returns the time for which live threads have waited since the last look, summed over them. It
// is 0 at the first look, and if the kernel does not provide the time.
//
// The kernel counts a wait when the thread gets a processor. A thread that is runnable at two looks
// and had no turn in between has waited since the first of them: Look counts that time at once. To
// tell such a thread from one that runs, looks must be longer apart than the ticks of the kernel's
// clock, which are 10 ms at most.
func (s *Starvation) Look() time.Duration { return s.look(time.Now()) }

func (s *Starvation) look(now time.Time) (sum time.Duration) {
	tasks := s.tasks
	if tasks == "" {
		tasks = "/proc/self/task"
	}
	list, err := os.ReadDir(tasks)
	if err != nil {
		return 0
	}
	first, before := s.threads == nil, s.threads
	s.threads = make(map[string]turns, len(list))
	for _, thread := range list {
		t, ok := readTurns(filepath.Join(tasks, thread.Name()), before[thread.Name()], now)
		if !ok {
			continue
		}
		s.threads[thread.Name()] = t
		if !first { // a new thread has waited since the last look only
			sum += max(0, t.starved-before[thread.Name()].starved)
		}
	}
	return sum
}

// readTurns reads the turns of a thread, which were before at the last look. It fails if the thread
// has ended, or the kernel does not provide the numbers.
func readTurns(thread string, before turns, now time.Time) (t turns, ok bool) {
	stat, err := Read(filepath.Join(thread, "stat"))
	if err != nil {
		return t, false
	}
	if t.numbers, t.starved, ok = readQueue(thread); !ok {
		return t, false
	}
	if stat.State == "R" {
		t.queued = now
		if t.numbers == before.numbers && !before.queued.IsZero() {
			t.queued = before.queued
			t.starved += now.Sub(t.queued)
		}
	}
	return t, true
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
