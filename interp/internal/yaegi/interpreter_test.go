package yaegi

import (
	"reflect"
	"testing"
	"time"

	"github.com/traefik/yaegi/interp"
)

// open returns a fresh interpreter.
func open(t *testing.T) *Interpreter {
	t.Helper()
	y, err := Open(interp.New(interp.Options{}), "main", func(reflect.Type) {})
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// TestStopIsOver checks that ending the channel operations of interrupted code does not end
// operations of code that runs afterwards.
func TestStopIsOver(t *testing.T) {
	y := open(t)
	done := y.memory.done
	for range 1000 {
		resume := y.Stop()
		<-done // as an operation that is ended
		resume()
		select {
		case <-done:
			t.Fatal("an operation that began afterwards is ended")
		case <-time.After(50 * time.Microsecond):
		}
	}
}
