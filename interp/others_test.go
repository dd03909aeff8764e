package interp

import (
	"context"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// TestOthers checks that Others counts what can run code of cells, or reports that something cannot
// be counted. Goroutines of other tests would count too.
func TestOthers(t *testing.T) {
	if !inOwnProcess(t) {
		return
	}
	in := open(t, Options{})
	mustEval(t, in, "stop := make(chan int)")
	soon := func(condition func() bool) bool { // a goroutine takes a moment to begin, and to end
		for deadline := time.Now().Add(time.Minute); !condition() && time.Now().Before(deadline); {
			time.Sleep(10 * time.Millisecond)
		}
		return condition()
	}
	expect := func(when string, running int, all bool) {
		t.Helper()
		gotRunning, gotAll := 0, false
		if !soon(func() bool { gotRunning, gotAll = in.Others(); return gotRunning == running && gotAll == all }) {
			t.Errorf("%s: %d run, and that is all: %v; want %d, %v", when, gotRunning, gotAll, running, all)
		}
	}
	expectBlocked := func(beside bool) {
		t.Helper()
		var d session.Activity
		if !soon(func() bool { d = in.Doing(); return d.Blocked && d.Beside == beside && !d.Sleeps }) {
			t.Errorf("the cell does %+v", d)
		}
	}
	expect("at rest", 0, true)
	mustEval(t, in, "go func() { <-stop }()")
	expect("a goroutine waits", 1, true)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan bool)
	go func() {
		in.Eval(ctx, session.Cell{ID: 100, Source: "select {}"})
		close(done)
	}()
	expect("a cell waits, too", 2, true)
	expectBlocked(false)
	cancel()
	<-done
	expect("after the interrupt", 0, true)
	mustEval(t, in, "go func() { time.Sleep(time.Hour) }()")
	ctx, cancel = context.WithCancel(t.Context())
	done = make(chan bool)
	go func() {
		in.Eval(ctx, session.Cell{ID: 101, Source: "select {}"})
		close(done)
	}()
	expect("a cell waits while a goroutine sleeps", 2, true)
	expectBlocked(true)
	cancel()
	<-done
	mustEval(t, in, "timer := time.AfterFunc(time.Hour, func() {})")
	expect("something is left for later", 0, false)
}
