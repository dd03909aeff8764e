package run

import (
	"context"
	"errors"
	"runtime/debug"
	"testing"

	"github.com/petermattis/goid"
	"github.com/symmrepl/symmrepl/interp/check"
)

// Execute runs brief code on its own goroutine and other code on a new one; a fault of either is a
// panic, and a fault of its caller is not.
func TestExecuteBrief(t *testing.T) {
	rt, err := New(nil, nil, 1<<30, nil)
	if err != nil {
		t.Fatal(err)
	}
	rt.Stacks.Mark, rt.Stacks.CallMark = new(int), new(int)
	failed := errors.New("failed")
	for _, brief := range []bool{true, false} {
		var on int64
		faults := false
		ending, stuck := rt.Execute(context.Background(), &check.Cell{Syntax: &check.Syntax{}}, brief, func() error {
			on, faults = goid.Get(), debug.SetPanicOnFault(true)
			return failed
		})
		if stuck != nil || ending.Err != failed || !ending.BySelf || ending.Interrupted {
			t.Errorf("brief %v: %+v, stuck %v", brief, ending, stuck)
		}
		if (on == goid.Get()) != brief || !faults {
			t.Errorf("brief %v: goroutine %d ran the code, faults become panics: %v; Execute is in goroutine %d", brief, on, faults, goid.Get())
		}
		if debug.SetPanicOnFault(false) {
			t.Errorf("brief %v: faults of the caller become panics", brief)
		}
	}
}
