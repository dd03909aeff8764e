package supervisor

import (
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/procfs"
	"github.com/symmrepl/symmrepl/session/inherit"
)

// Text that begins like a report of Go's runtime is held back until it is known whether it is one.
func TestCrashReport(t *testing.T) {
	for _, c := range []struct {
		name   string
		writes []string
		ending bool // the process is ending, from the first write on
		shown  string
		held   string
	}{
		{"output", []string{"a\n", "b"}, false, "a\nb", ""},
		{"report", []string{"a\n", "fatal error: ", "out of memory\n", "goroutine 1\n"}, true, "a\n",
			"fatal error: out of memory\ngoroutine 1\n"},
		{"report in a piece", []string{"a\npanic: x\n\ngoroutine 1\n"}, true, "a\n", "panic: x\n\ngoroutine 1\n"},
		{"threads", []string{"runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort\n"}, false, "",
			"runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort\n"},
		{"in a line", []string{"the ", "panic: x\n", "a fatal error: y\n"}, true, "the panic: x\na fatal error: y\n", ""},
		{"output after all", []string{"panic: x\n", "b\n"}, false, "panic: x\nb\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			shown := make(chan string, 10)
			r := &crashReport{show: func(b []byte) { shown <- string(b) }, ended: func() bool { return c.ending }}
			for _, w := range c.writes {
				r.write([]byte(w))
			}
			got := ""
			for len(got) < len(c.shown) {
				got += receive(t, "output", shown)
			}
			if c.held != "" {
				time.Sleep(2 * crashQuiet)
			}
			if held := string(r.take()); got != c.shown || held != c.held {
				t.Errorf("shown %q, held back %q", got, held)
			}
			if len(shown) > 0 {
				t.Errorf("and shown %q", <-shown)
			}
		})
	}
}

// TestAdvice checks that the reports of Go's runtime lead to advice.
func TestAdvice(t *testing.T) {
	for report, want := range map[string]string{
		"fatal error: concurrent map writes\n": "sync.Mutex",
		"runtime: failed to create new OS thread (have 7 already; errno=11)\nruntime: may need to increase max user processes (ulimit -u)\nfatal error: newosproc\n": "ulimit -u",
		"runtime: out of memory: cannot allocate 4194304-byte block (62193664 in use)\nfatal error: out of memory\n":                                                 "memory",
		"runtime: goroutine stack exceeds 268435456-byte limit\nfatal error: stack overflow\n":                                                                       "nested",
		"fatal error: all goroutines are asleep - deadlock!\n":                                                                                                       "wait",
		"runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort\n":                                                                     "ulimit -u",
		"panic: boom\n": "",
	} {
		if got := adviceFor(report); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q", report, got)
		}
	}
}

// If a session would exceed a limit of threads, the error comes before any worker is started.
func TestEnoughThreads(t *testing.T) {
	for _, c := range []struct {
		limit, threads uint64
		want           string
	}{
		{0, 0, ""},
		{1000, 400, ""},
		{148, 100, ""},
		{147, 100, "a session of 2 ranks needs about 48 threads, and the user may have 147 and has 100 already: `ulimit -u 196` raises the limit"},
	} {
		got := ""
		if err := enoughThreads("a session of 2 ranks", 2, func() (uint64, uint64) { return c.limit, c.threads }); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%d threads of %d: %q, want %q", c.threads, c.limit, got, c.want)
		}
	}
}

// If descriptors run out while a worker is started, no descriptor is left open, and the error says what
// raises the limit.
func TestStartWithoutDescriptors(t *testing.T) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	sp := NewSpawner()
	defer sp.Close()
	_, before := procfs.FileLimit()
	refused := 0
	for spare := range uint64(24) {
		few := unix.Rlimit{Cur: before + spare, Max: limit.Max}
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
			t.Fatal(err)
		}
		boot, err := os.Open(os.DevNull)
		if err != nil {
			continue
		}
		p, err := startProcess(sp, inherit.Spec{Size: 1, Dir: t.TempDir()}, nil, boot)
		if err == nil {
			p.kill()
			p.os.Wait()
			p.closeFiles()
		} else if refused++; !strings.Contains(raiseFiles(err).Error(), "`ulimit -n ") {
			t.Errorf("%d descriptors are free: %v", spare, raiseFiles(err))
		}
		unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
		_, after := procfs.FileLimit()
		if after > before {
			t.Fatalf("%d descriptors are free: %d are open after the start, and were %d (%v)", spare, after, before, err)
		}
		before = after // connections of earlier tests may have closed meanwhile
	}
	if refused < 5 {
		t.Errorf("%d starts were refused", refused)
	}
}
