package supervisor

import (
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/internal/procfs"
	"github.com/symmrepl/symmrepl/session/inherit"
	"github.com/symmrepl/symmrepl/session/wire"
)

// waitAtMost bounds a test's wait for an event that comes within seconds on a quiet machine.
const waitAtMost = time.Minute

func TestMain(m *testing.M) {
	if os.Getenv(inherit.Variable) != "" { // a worker, which a test kills
		time.Sleep(waitAtMost)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// receive returns the next value from a channel.
func receive[T any](t *testing.T, what string, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(waitAtMost):
		t.Fatalf("not within %v: %s", waitAtMost, what)
	}
	return v
}

// Sending a command does not wait for the goroutine that takes the events: it may be the sender
// itself.
func TestStatusDoesNotWait(t *testing.T) {
	self, err := procfs.Open(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	blocked, release := make(chan struct{}), make(chan struct{})
	s := &Supervisor{process: &process{stat: self, out: frame.NewWriter(io.Discard)}, Emit: func(wire.Event, []byte) {
		close(blocked)
		<-release
	}}
	done := make(chan struct{})
	go func() {
		s.Do(wire.Command{Status: wire.WatchdogQuestion}, nil)
		close(done)
	}()
	defer close(release)
	receive(t, "the event", blocked)
	receive(t, "Do returns before its event is taken", done)
}

func TestCauseOfDeath(t *testing.T) {
	exit := func(code int) syscall.WaitStatus { return syscall.WaitStatus(code << 8) }
	for _, c := range []struct {
		status        syscall.WaitStatus
		stderr        string
		cause, report string
	}{
		{9, "x\n", "was killed (SIGKILL)", "x\n"},
		{15, "", "was killed (SIGTERM)", ""},
		{11 | 0x80, "", "crashed (SIGSEGV)", ""},
		{6, "SIGABRT: abort\nPC=1\n", "crashed (SIGABRT: abort)", "SIGABRT: abort\nPC=1\n"},
		{9, "runtime/cgo: pthread_create failed\nPC=1\n", "crashed (runtime/cgo: pthread_create failed)",
			"runtime/cgo: pthread_create failed\nPC=1\n"},
		{9, "panic: boom\n", "was killed (SIGKILL)", "panic: boom\n"},
		{exit(0), "bye\n", "exited with status 0", "bye\n"},
		{exit(3), "panic: not\n", "exited with status 3", "panic: not\n"},
		{exit(2), "usage\n", "exited with status 2", "usage\n"},
		{exit(2), "log\npanic: boom\n\ngoroutine 1\n", "crashed (panic: boom)", "panic: boom\n\ngoroutine 1\n"},
		{exit(2), "fatal error: concurrent map writes\n", "crashed (fatal error: concurrent map writes)",
			"fatal error: concurrent map writes\n"},
	} {
		cause, report := causeOfDeath(c.status, c.stderr)
		if cause != c.cause || report != c.report {
			t.Errorf("%v %q: %q %q", c.status, c.stderr, cause, report)
		}
	}
}
