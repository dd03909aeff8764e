package procfs

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// thread is a thread in the files of a test.
type thread struct{ state, numbers string }

func TestStarvation(t *testing.T) {
	dir := t.TempDir()
	s := Starvation{tasks: dir}
	start := time.Unix(1000, 0)
	for _, look := range []struct {
		after   time.Duration
		threads map[string]thread
		want    time.Duration
	}{
		{0, map[string]thread{"1": {"R", "5 1000000 7\n"}, "2": {"S", "0 2000000 1\n"}, "3": {"R", ""}, "4": {"R", "none"}}, 0},
		// 1 has had no turn, 2 wakes, 5 is new
		{100 * time.Millisecond, map[string]thread{"2": {"R", "0 2000000 1\n"}, "5": {"S", "9 3000000 2\n"}}, 103 * time.Millisecond},
		{150 * time.Millisecond, map[string]thread{}, 100 * time.Millisecond}, // 1 and 2
		// the kernel counts the wait of 1, of which 150 ms are counted already, and it has slept since
		{300 * time.Millisecond, map[string]thread{"1": {"S", "6 261000000 8\n"}, "2": {"R", "4 62000000 2\n"}}, 110*time.Millisecond + 10*time.Millisecond},
		// 2 runs
		{400 * time.Millisecond, map[string]thread{"2": {"R", "90 62000000 2\n"}}, 0},
		{500 * time.Millisecond, map[string]thread{"2": {"S", "91 62000000 2\n"}}, 0},
	} {
		for name, th := range look.threads {
			os.Mkdir(filepath.Join(dir, name), 0o755)
			stat := name + " (a) " + th.state + statLine[len("77 (a b) c) R"):]
			for file, text := range map[string]string{"stat": stat, "schedstat": th.numbers} {
				if err := os.WriteFile(filepath.Join(dir, name, file), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := s.look(start.Add(look.after)); got != look.want {
			t.Errorf("after %v: %v, want %v", look.after, got, look.want)
		}
	}
	none := Starvation{tasks: filepath.Join(dir, "none")}
	if got := none.Look(); got != 0 {
		t.Errorf("%v without threads", got)
	}
}

// The wait of a thread counts while it lasts: threads that are queued behind another one and have had
// no turn for long are starved.
func TestStarvationNow(t *testing.T) {
	const (
		queued = 3 // threads that get a turn about once a second
		every  = 100 * time.Millisecond
		looks  = 8
	)
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil || all.Count() < 2 {
		t.Skipf("needs two processors, has %d: %v", all.Count(), err)
	}
	for cpu := 0; one.Count() == 0; cpu++ {
		if all.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(queued + 4))
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection waits for the queued threads
	var stop atomic.Bool
	var spinning sync.WaitGroup
	defer spinning.Wait()
	defer stop.Store(true)
	ready := make(chan error)
	for i := range 1 + queued {
		spinning.Go(func() {
			runtime.LockOSThread() // never unlocked, so the thread ends with the goroutine
			err := unix.SchedSetaffinity(0, &one)
			if i > 0 && err == nil {
				err = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0)
			}
			ready <- err
			for !stop.Load() {
			}
		})
		if err := <-ready; err != nil {
			t.Fatal(err)
		}
	}
	var s Starvation
	if s.Look(); len(s.threads) == 0 {
		t.Skip("the kernel does not tell how long threads wait")
	}
	for range looks {
		last := time.Now()
		time.Sleep(every)
		over, starved := time.Since(last), s.Look()
		if starved < over {
			t.Errorf("%d threads had no processor for %v, and Look returns %v", queued, over, starved)
		}
	}
}
