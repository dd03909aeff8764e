package limits

import (
	"sync/atomic"
	"testing"
	"time"
)

// A function is called once the process has used processor time, not while it only waits, and again each
// time that it asks for it.
func TestProcessorClock(t *testing.T) {
	var c processorClock
	var calls atomic.Int64
	began := ProcessorTime()
	var again func()
	again = func() {
		if used := ProcessorTime() - began; calls.Add(1) == 1 && used < clockStep {
			t.Errorf("the function is called after %v of processor time", used)
		}
		if calls.Load() < 3 {
			c.after(again)
		}
	}
	c.after(again)
	time.Sleep(100 * time.Millisecond)
	if used := ProcessorTime() - began; calls.Load() > 0 && used < clockStep {
		t.Errorf("%d calls in %v of processor time", calls.Load(), used)
	}
	for end := time.Now().Add(time.Minute); calls.Load() < 3; {
		if time.Now().After(end) {
			t.Fatalf("%d calls after %v of processor time", calls.Load(), ProcessorTime()-began)
		}
	}
	time.Sleep(10 * time.Millisecond)
	if n := calls.Load(); n != 3 {
		t.Errorf("%d calls, asked for 3", n)
	}
}
