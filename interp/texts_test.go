package interp

import (
	"runtime"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// A cell's work on the device may fail after Eval: until the next cell runs, the line of a position
// in the cell is available, whatever is collected; afterwards it is not.
func TestPlaceAfterEval(t *testing.T) {
	in := open(t, Options{})
	evaluate(in, session.Cell{ID: 1, Name: "cell[1]", Line: 1, Source: "x := 1"})
	at := in.Position()
	place := func() session.Error {
		runtime.GC()
		time.Sleep(time.Millisecond) // for cleanups
		var e session.Error
		in.Place(&e, at)
		return e
	}
	for range 20 {
		if e := place(); e.File != "cell[1]" || e.Line != 1 || e.Source != "x := 1" {
			t.Fatalf("the position of the statement is %s:%d, %q", e.File, e.Line, e.Source)
		}
	}
	for start := time.Now(); place().File != ""; {
		if mustEval(t, in, "0"); time.Since(start) > patient() {
			t.Fatal("the text of a cell that is over is kept")
		}
	}
}
