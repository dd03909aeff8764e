package interp

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// interrupt runs a cell, interrupts it once it has called started, and returns its error and how long Eval took from then.
func interrupt(t *testing.T, in *Interp, src string) (*session.Error, time.Duration) {
	t.Helper()
	return interruptAfter(t, in, src, 30*time.Millisecond)
}

// interruptAfter interrupts a cell that has to come to a certain place first.
func interruptAfter(t *testing.T, in *Interp, src string, d time.Duration) (*session.Error, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var at time.Time
	timer := time.AfterFunc(d, func() { at = time.Now(); cancel() })
	defer timer.Stop()
	r := in.Eval(ctx, session.Cell{ID: 1, Source: src})
	if at.IsZero() {
		t.Fatalf("%q ended by itself: %v", src, r.Err)
	}
	return r.Err, time.Since(at)
}

// TestInterruptWithError holds that a wait which ends with an error of its own says more than that it was interrupted.
func TestInterruptWithError(t *testing.T) {
	stopped := make(chan struct{})
	cause := errors.New("rank 2 never came")
	in, err := New(Options{
		Packages: testPackage(func() { <-stopped; panic(cause) }),
		ConvertError: func(err error) *session.Error {
			if err == cause {
				return &session.Error{Kind: session.KindInterrupted, Peer: 2, Msg: err.Error()}
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, func() { close(stopped); cancel() })
	r := in.Eval(ctx, session.Cell{ID: 1, Source: "import \"test/blocking\"\n\nblocking.Wait()"})
	if r.Err == nil || r.Err.Kind != session.KindInterrupted || r.Err.Peer != 2 || r.Err.Line != 3 {
		t.Errorf("got %#v", r.Err)
	}
	if got := mustEval(t, in, "1 + 1"); got != "2" {
		t.Errorf("1 + 1 is %s", got)
	}
}

// TestInterruptPlace holds that the position of an interrupted cell is one in that cell.
func TestInterruptPlace(t *testing.T) {
	in, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustEval(t, in, "\n\nfunc half(n int) int {\n\treturn 10 / n\n}")
	for _, c := range []struct {
		src  string
		line int // 0 when there is no position
	}{
		{"\nfor { }", 2},
		{"half(2)\nfor { }", 0}, // what was marked last is in the other cell
		{"\n\ntime.Sleep(time.Hour)", 3},
	} {
		err, _ := interrupt(t, in, c.src)
		if err == nil || err.Kind != session.KindInterrupted || err.Line != c.line || (err.File != "") != (c.line > 0) {
			t.Errorf("%q: got %#v, want line %d", c.src, err, c.line)
		}
	}
}
