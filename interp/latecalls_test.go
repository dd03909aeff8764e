package interp

import (
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// lateCalls has cells with a compiled call that returns long after the cell was interrupted. The
// code after the call sets x, y or z or prints.
var lateCalls = []string{
	"late.Wait()\nx = 100",
	"x = late.Value()",
	"x += late.Value()",
	"x, y = late.Pair()",
	"var a, b = late.Pair()\nx, y = a, b",
	"z[0] = late.Value()",
	"z[0], x = late.Pair()",
	"p := &x\n*p = late.Value()",
	"z = append(z, late.Value())",
	"setY(late.Value(), setX(1))",
	"setX(late.Value())",
	"setX(late.Value() + setX(50))",
	"waits()",
	"x = value()",
	"x, y = pair()",
	"func() { defer func() { x = 100 }(); late.Wait() }()",
	"defer func() { recover(); x = 100 }()\nlate.Panic()",
	"func() { defer func() { recover(); x = 100 }(); late.Panic() }()",
	"late.Call(func() { x = 100 })",
	"late.Call(waits)",
	"late.Each(func() { x = 100 })",
	"for { x = late.Value() }",
	"if late.Value() > 0 { x = 100 }",
	"switch late.Value() { case 7: x = 100 }",
	"w := late.Value\nx = w()",
	"done := make(chan bool)\ngo func() { late.Wait(); x = 100; done <- true }()\n<-done",
	"go func() { defer func() { x = 100 }(); late.Panic() }()\nselect { }",
	"later.Wait()\nx = 100",
}

// TestLateCalls checks that when a cell is interrupted during a compiled call that does not return,
// the session reports the call and takes the next cell at once, and that when the call returns, the
// code after it does not run.
func TestLateCalls(t *testing.T) {
	var inside, release chan struct{}
	wait := func() {
		in, out := inside, release
		close(in)
		<-out
	}
	in := open(t, Options{Packages: Exports{"test/late/late": {
		"Wait":  reflect.ValueOf(wait),
		"Value": reflect.ValueOf(func() int { wait(); return 7 }),
		"Pair":  reflect.ValueOf(func() (int, int) { wait(); return 7, 8 }),
		"Panic": reflect.ValueOf(func() { wait(); panic("late") }),
		"Call":  reflect.ValueOf(func(f func()) { wait(); f() }),
		"Each": reflect.ValueOf(func(f func()) {
			wait()
			for {
				f()
			}
		}),
		"Waiter": reflect.ValueOf((*waiter)(nil)),
		"New":    reflect.ValueOf(func() *waiter { return &waiter{wait} }),
	}}})
	mustEval(t, in, `import "test/late"
x, y, z := 1, 2, []int{3}
later := late.New()
func setX(v int) int { x = v; return v }
func setY(_, v int) { y = v + 1 }
func waits() { late.Wait(); x = 100 }
func value() int { v := late.Value(); x = 100; return v }
func pair() (int, int) { return late.Pair() }`)
	before := runtime.NumGoroutine()
	const state = "fmt.Sprint(x, y, z)"
	for _, src := range lateCalls {
		inside, release = make(chan struct{}), make(chan struct{})
		e := interruptWhen(t, in, inside, src, 2*time.Second)
		if e == nil || e.Kind != session.KindInterrupted || !strings.Contains(e.Hint, "does not return") && !strings.Contains(src, "go func") {
			t.Fatalf("%q: got %#v", src, e)
		}
		calls := in.Calls()
		if len(calls) != 1 || !strings.HasPrefix(calls[0].Function, "interp.") || calls[0].Cell != "cell[1]" {
			t.Errorf("%q: the calls are %+v", src, calls)
		}
		if got := mustEval(t, in, state); got != `"1 2 [3]"` {
			t.Fatalf("after %q the session has %s", src, got)
		}
		close(release)
		for end := time.Now().Add(patient()); len(in.Calls()) > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%q: the call has not ended", src)
			}
			mustEval(t, in, "1") // code runs while the call returns
		}
		if got := mustEval(t, in, state); got != `"1 2 [3]"` {
			t.Fatalf("when the call of %q has returned, the session has %s", src, got)
		}
	}
	if e := interrupt(t, in, "for { }"); e == nil || e.Kind != session.KindInterrupted {
		t.Errorf("got %v", e)
	}
	if running := in.runtime.Running(); running != 0 {
		t.Errorf("%d cells and goroutines are said to run", running)
	}
	for end := time.Now().Add(patient()); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// waiter has a method that waits.
type waiter struct{ wait func() }

func (w *waiter) Wait() { w.wait() }

// TestLateCallsOfEarlierCells checks that interrupting a cell does not abandon compiled calls in
// which goroutines of earlier cells wait.
func TestLateCallsOfEarlierCells(t *testing.T) {
	inside, release := make(chan struct{}), make(chan struct{})
	in := open(t, Options{Packages: Exports{"test/late/late": {
		"Served": reflect.ValueOf(func() { <-release }),
		"Wait":   reflect.ValueOf(func() { close(inside); <-release }),
	}}})
	mustEval(t, in, "import \"test/late\"\nx, served := 0, make(chan bool, 1)\ngo func() { late.Served(); served <- true }()")
	interruptWhen(t, in, inside, "late.Wait()\nx = 1", 2*time.Second)
	close(release)
	if got := mustEval(t, in, "<-served\nx"); got != "0" {
		t.Errorf("x is %s", got)
	}
}
