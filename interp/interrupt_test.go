package interp

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/interp/run/executions"
	"github.com/symmrepl/symmrepl/interp/run/limits"
	"github.com/symmrepl/symmrepl/session"
)

// interrupt runs a cell, interrupts it a moment later, and returns its error. The cell has a second
// to end, though it takes 50 ms on an idle machine.
func interrupt(t *testing.T, in *Interp, src string) *session.Error {
	t.Helper()
	moment := make(chan struct{})
	time.AfterFunc(30*time.Millisecond, func() { close(moment) })
	return interruptWhen(t, in, moment, src, time.Second)
}

// interruptWhen interrupts a cell once now is ready to receive. The cell may take most to end.
func interruptWhen(t *testing.T, in *Interp, now <-chan struct{}, src string, most time.Duration) *session.Error {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended, late := make(chan struct{}), make(chan bool, 1)
	go func() {
		defer close(late)
		select {
		case <-now:
		case <-ended:
			return
		case <-time.After(patient()):
			t.Errorf("%q has not come in %v to where it is interrupted", src, patient())
		}
		cancel()
		late <- !limits.NewDeadline(most).Wait(ended)
	}()
	r := in.Eval(ctx, session.Cell{ID: 1, Source: src})
	close(ended)
	if late, interrupted := <-late; !interrupted {
		t.Fatalf("%q ended by itself: %v", src, r.Err)
	} else if late {
		t.Errorf("%q takes more than %v to end", src, most)
	}
	return r.Err
}

// openInterruptible returns a session, and a function that runs a cell and interrupts it where the
// cell calls interrupt.Here.
func openInterruptible(t *testing.T) (in *Interp, interrupted func(src string, most time.Duration) *session.Error) {
	here := make(chan struct{}, 1)
	in = open(t, Options{
		Packages: Exports{"test/interrupt/interrupt": {"Here": reflect.ValueOf(func() {
			select {
			case here <- struct{}{}:
			default:
			}
		})}},
		Names: map[string]string{"interrupt": "test/interrupt"},
	})
	return in, func(src string, most time.Duration) *session.Error {
		t.Helper()
		select {
		case <-here: // of a deferred call of the cell before
		default:
		}
		return interruptWhen(t, in, here, src, most)
	}
}

// TestInterruptWithError checks that if an interrupted wait ends with its own error, however late,
// the cell's error includes it.
func TestInterruptWithError(t *testing.T) {
	for _, late := range []time.Duration{0, 4 * executions.SelfEnd} {
		t.Run(late.String(), func(t *testing.T) { testInterruptWithError(t, late) })
	}
}

func testInterruptWithError(t *testing.T, late time.Duration) {
	waits := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cause := errors.New("rank 2 never came")
	in := open(t, Options{
		Packages: testPackage(func() { close(waits); <-ctx.Done(); time.Sleep(late); panic(cause) }),
		ConvertError: func(err error) *session.Error {
			if err == cause {
				return &session.Error{Kind: session.KindInterrupted, Peer: 2, Msg: err.Error()}
			}
			return nil
		},
	})
	go func() { <-waits; cancel() }()
	r := in.Eval(ctx, session.Cell{ID: 1, Source: "import \"test/blocking\"\n\nblocking.Wait()"})
	if r.Err == nil || r.Err.Kind != session.KindInterrupted || r.Err.Peer != 2 || r.Err.Line != 3 {
		t.Errorf("got %#v", r.Err)
	}
	if got := mustEval(t, in, "1 + 1"); got != "2" {
		t.Errorf("1 + 1 is %s", got)
	}
}

// TestInterruptPlace checks that the position of an interrupted cell is in that cell.
func TestInterruptPlace(t *testing.T) {
	in, interrupted := openInterruptible(t)
	mustEval(t, in, "\n\nfunc half(n int) int {\n\tinterrupt.Here()\n\treturn 10 / n\n}")
	for _, c := range []struct {
		src  string
		line int // 0 when there is no position
	}{
		{"\nfor { interrupt.Here() }", 2},
		{"half(2)\nfor { }", 0}, // the last stored position is in the other cell
		{"\n\ninterrupt.Here(); time.Sleep(time.Hour)", 3},
	} {
		err := interrupted(c.src, time.Second)
		if err == nil || err.Kind != session.KindInterrupted || err.Line != c.line || (err.File != "") != (c.line > 0) {
			t.Errorf("%q: got %#v, want line %d", c.src, err, c.line)
		}
	}
}
