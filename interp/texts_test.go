package interp

import (
	"runtime"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// What a cell has left on the device may fail after Eval: a position in it has its line until the next cell runs, whatever is collected, and not for ever.
func TestPlaceAfterEval(t *testing.T) {
	in := open(t, Options{})
	evaluate(in, session.Cell{ID: 1, Name: "cell[1]", Line: 1, Source: "x := 1"})
	at := in.Position()
	place := func() session.Error {
		runtime.GC()
		time.Sleep(time.Millisecond) // for what is done when something is found to be gone
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
		if mustEval(t, in, "0"); time.Since(start) > patient {
			t.Fatal("the text of a cell that is over is kept")
		}
	}
}
