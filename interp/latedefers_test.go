package interp

import (
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/interp/run/executions"
)

// TestInterruptedDefers checks that the deferred calls of all goroutines of an interrupted cell
// run, for a limited time.
func TestInterruptedDefers(t *testing.T) {
	in, interrupted := openInterruptible(t)
	mustEval(t, in, `import "sync"
var mu, other sync.Mutex
var log []string
func spin() { interrupt.Here(); for { } }
func outer() { defer func() { log = append(log, "outer", fmt.Sprint(recover())) }(); inner() }
func inner() { mu.Lock(); defer mu.Unlock(); defer func() { log = append(log, "inner") }(); spin() }`)
	if err := interrupted("started := make(chan bool)\ngo func() { other.Lock(); defer other.Unlock(); started <- true; select { } }()\n<-started\nouter()", executions.LateGrace); err.Msg != "interrupted" {
		t.Error(err)
	}
	if got, want := mustEval(t, in, "fmt.Sprint(log, mu.TryLock(), other.TryLock())"), `"[inner outer <nil>] true true"`; got != want {
		t.Errorf("the deferred calls have done %s, want %s", got, want)
	}
	log := "var log []string\n"
	interrupted(log+"func() { defer func() { log = append(log, \"never\") }(); defer spin(); defer func() { log = append(log, \"first\") }(); spin() }()", executions.LateGrace+time.Second)
	if got := mustEval(t, in, "log"); got != `[]string{"first"}` {
		t.Errorf("the deferred calls have done %s", got)
	}
	interrupted(log+"func() { defer func() { log = append(log, \"last\") }(); defer spin() }()", executions.LateGrace)
	if got := mustEval(t, in, "log"); got != `[]string{"last"}` {
		t.Errorf("after an interrupt in a deferred call the others have done %s", got)
	}
}
