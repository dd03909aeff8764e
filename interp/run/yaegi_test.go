package run

import (
	"testing"
	"time"
)

// TestStopIsOver holds that what ends the channel operations of interrupted code ends none of code that runs afterwards.
func TestStopIsOver(t *testing.T) {
	rt, err := New(nil, nil, 1<<30, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		resume := rt.yaegi.stop()
		<-rt.yaegi.done // as an operation that is ended
		resume()
		select {
		case <-rt.yaegi.done:
			t.Fatal("an operation that began afterwards is ended")
		case <-time.After(50 * time.Microsecond):
		}
	}
}
