package limits

import (
	"sync/atomic"
	"testing"
	"time"
)

// TestPatience checks that a deadline does not expire for code that could run but gets no
// processor, and does for code that is blocked.
func TestPatience(t *testing.T) {
	var stop atomic.Bool
	running := make(chan bool)
	go func() {
		for running <- true; !stop.Load(); {
		}
	}()
	<-running
	p := &Deadline{left: time.Minute, at: time.Now().Add(-time.Hour), used: ProcessorTime()}
	if p.Over() {
		t.Error("a goroutine that could run is given up though it had no processor")
	}
	stop.Store(true)
	p = NewDeadline(10 * time.Millisecond)
	if never := make(chan struct{}); p.Wait(never) {
		t.Error("what never ends has ended")
	}
	// The goroutine that ends, and the collector, may run for another moment.
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		if p = (&Deadline{left: time.Minute, at: time.Now().Add(-time.Hour), used: ProcessorTime()}); p.Over() {
			break
		}
		if time.Since(start) > time.Minute {
			t.Fatal("what is blocked is not given up in its time")
		}
	}
}
