package interp

import (
	"testing"
	"time"
)

// TestInterruptedDefers holds that the deferred calls of an interrupted cell run, of all its goroutines and to a bound.
func TestInterruptedDefers(t *testing.T) {
	in, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustEval(t, in, `import "sync"
var mu, other sync.Mutex
var log []string
func spin() { for { } }
func outer() { defer func() { log = append(log, "outer", fmt.Sprint(recover())) }(); inner() }
func inner() { mu.Lock(); defer mu.Unlock(); defer func() { log = append(log, "inner") }(); spin() }`)
	if err, took := interruptAfter(t, in, "started := make(chan bool)\ngo func() { other.Lock(); defer other.Unlock(); started <- true; select { } }()\n<-started\nouter()", 500*time.Millisecond); err.Msg != "interrupted" || took > lateGrace {
		t.Errorf("%v after %v", err, took)
	}
	if got, want := mustEval(t, in, "fmt.Sprint(log, mu.TryLock(), other.TryLock())"), `"[inner outer <nil>] true true"`; got != want {
		t.Errorf("the deferred calls have done %s, want %s", got, want)
	}
	log := "var log []string\n"
	if _, took := interruptAfter(t, in, log+"func() { defer func() { log = append(log, \"never\") }(); defer spin(); defer func() { log = append(log, \"first\") }(); spin() }()", 500*time.Millisecond); took > lateGrace+time.Second {
		t.Errorf("an endless deferred call ended after %v", took)
	}
	if got := mustEval(t, in, "log"); got != `[]string{"first"}` {
		t.Errorf("the deferred calls have done %s", got)
	}
	interruptAfter(t, in, log+"func() { defer func() { log = append(log, \"last\") }(); defer spin() }()", 500*time.Millisecond)
	if got := mustEval(t, in, "log"); got != `[]string{"last"}` {
		t.Errorf("after an interrupt in a deferred call the others have done %s", got)
	}
}
