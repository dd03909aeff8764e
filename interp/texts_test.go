package interp

import (
	"go/token"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// A cell's work on the device may fail after Eval, and reports name lines of cells whose code is gone:
// whatever is collected, the line of a position in a cell is available, until the texts of later cells
// are too many.
func TestPlaceAfterEval(t *testing.T) {
	in := open(t, Options{})
	evaluate(in, session.Cell{ID: 1, Name: "cell[1]", Line: 1, Source: "x := 1"})
	at := in.Position()
	collect := func() {
		runtime.GC()
		time.Sleep(time.Millisecond) // for cleanups
	}
	running := func() bool { // the cell's code may run
		in.mu.Lock()
		defer in.mu.Unlock()
		for text := range in.texts {
			if text.Place(new(session.Error), token.Pos(at)) {
				return true
			}
		}
		return false
	}
	place := func() (e session.Error) {
		in.Place(&e, at)
		return e
	}
	for range 20 {
		if collect(); !running() {
			t.Fatal("the code of the latest cell is gone")
		}
	}
	for start := time.Now(); running(); collect() {
		if mustEval(t, in, "0"); time.Since(start) > patient() {
			t.Fatal("the code of a cell that is over is kept")
		}
	}
	if e := place(); e.File != "cell[1]" || e.Line != 1 || e.Source != "x := 1" {
		t.Fatalf("the position of the statement is %s:%d, %q", e.File, e.Line, e.Source)
	}
	large := "0 //" + strings.Repeat("x", mostPast/4)
	for start := time.Now(); place().File != ""; collect() {
		if mustEval(t, in, large); time.Since(start) > patient() {
			t.Fatal("the text of a cell is kept beside many later ones")
		}
	}
}
