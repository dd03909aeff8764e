package executions

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/petermattis/goid"
)

// TestGoroutinesInDump checks what is derived from a dump of all stacks.
func TestGoroutinesInDump(t *testing.T) {
	const (
		waits  = "goroutine 7 [chan receive]:\ngithub.com/traefik/yaegi/interp.recv.func1(0x1)\n\t/yaegi/run.go:1 +0x1\ncreated by " + ownPrefix + "(*Executions).Go in goroutine 5\n\t/run/execution.go:1 +0x1"
		sleeps = "goroutine 8 [select]:\n" + sleepFrame + "(0x1, 0x2)\n\t/run/waits.go:1 +0x1\ncreated by " + ownPrefix +
			"(*Executions).Go in goroutine 5\n\t/run/execution.go:1 +0x1"
		runs = "goroutine 9 [runnable]:\nsort.Ints(...)\n\t/sort.go:1\ncreated by " + ownPrefix +
			"(*Executions).Go in goroutine 5\n\t/run/execution.go:1 +0x1"
		own     = "goroutine 5 [running]:\nmain.main()\n\t/main.go:1 +0x1"
		signals = "goroutine 3 [syscall]:\nos/signal.signal_recv()\n\t/signal.go:1\ncreated by os/signal.Notify.func1.1 in goroutine 1\n\t/signal.go:1 +0x1"
		group   = "goroutine 6 [select]:\ngithub.com/symmrepl/symmrepl/symmem/internal/net.(*Engine).tell(0x1)\n\t/net/engine.go:1\nsync.(*WaitGroup).Go.func1()\n\t/sync.go:1\ncreated by sync.(*WaitGroup).Go in goroutine 1\n\t/sync.go:1 +0x1"
		theirs  = "goroutine 6 [select]:\ngolang.org/x/sync/errgroup.f()\n\t/e.go:1\nsync.(*WaitGroup).Go.func1()\n\t/sync.go:1\ncreated by sync.(*WaitGroup).Go in goroutine 1\n\t/sync.go:1 +0x1"
		foreign = "goroutine 4 [IO wait]:\nnet/http.(*persistConn).readLoop(0x1)\n\t/http.go:1\ncreated by net/http.(*Transport).dialConn in goroutine 5\n\t/http.go:1 +0x1"
	)
	for _, test := range []struct {
		dump             string
		id               int64
		beside, stranger bool
	}{
		{own + "\n\n" + waits + "\n\n" + signals, 5, false, false},
		{own + "\n\n" + waits + "\n\n" + sleeps, 5, true, false},
		{own + "\n\n" + runs, 5, true, false},
		{own + "\n\n" + runs, 9, false, false},
		{own + "\n\n" + foreign, 5, false, true},
		{own + "\n\n" + group, 5, false, false},
		{own + "\n\n" + theirs, 5, false, true},
	} {
		if got := activeBeside(test.dump, test.id); got != test.beside {
			t.Errorf("another goroutine than %d is active: %v\n%s", test.id, got, test.dump)
		}
		if got := hasForeign(test.dump); got != test.stranger {
			t.Errorf("there is a goroutine of somebody else: %v\n%s", got, test.dump)
		}
	}
}

// TestGoroutineNumber checks that the number of a goroutine is read from the place where this
// version of Go keeps it.
func TestGoroutineNumber(t *testing.T) {
	for range 2 {
		done := make(chan string)
		go func() {
			buf := make([]byte, 64)
			text := string(buf[:runtime.Stack(buf, false)])
			if want := fmt.Sprintf("goroutine %d ", goid.Get()); !strings.HasPrefix(text, want) {
				text = "want " + want + ", got " + text
			} else {
				text = ""
			}
			done <- text
		}()
		if text := <-done; text != "" {
			t.Error(text)
		}
	}
}
