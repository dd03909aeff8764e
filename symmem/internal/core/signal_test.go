package symmem

import (
	"errors"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/pace"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// Signals are the same where peers can be swapped with and where they cannot.
func TestSignalsWithoutSwaps(t *testing.T) {
	for name, swaps := range map[string]bool{"swaps": true, "no swaps": false} {
		t.Run(name, func(t *testing.T) {
			d, err := cpu.Open(0)
			if err != nil {
				t.Fatal(err)
			}
			rt, err := New(d, Config{Plan: tuning.CPU, Name: "cpu"})
			if err != nil {
				t.Fatal(err)
			}
			defer rt.Close()
			h := rt.Rendezvous(rt.Empty(I32, 1))
			h.g.work.WholeLines = swaps
			for range 3 {
				h.PutSignal(0, 2)
				h.WaitSignal(0, 2)
			}
			if pending := rt.PendingSignals(); pending != nil {
				t.Errorf("pending: %q", pending)
			}
			h.PutSignal(0, 2)
			h.PutSignal(0, 2, Timeout(20*time.Millisecond))
			var e *Error
			if err := Maybe(rt.Synchronize); !errors.As(err, &e) || e.Kind != KindTimeout || e.Op != "put_signal" {
				t.Errorf("a second put gives %v", err)
			}
			h.WaitSignal(0, 2)
			if pending := rt.PendingSignals(); pending != nil {
				t.Errorf("afterwards: %q", pending)
			}
		})
	}
}

// When a wait gives up, what the rank's stream holds behind it neither signals nor waits, until
// that is reported: it would release another rank of the same deadlock, which then would not know
// of it.
func TestNothingAfterAWaitThatGaveUp(t *testing.T) {
	d, err := cpu.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	rt, err := New(d, Config{Plan: tuning.CPU, Name: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	h := rt.Rendezvous(rt.Empty(I32, 1))
	limit := Timeout(20 * time.Millisecond)
	for op, deadlock := range map[string]func(){
		"wait_signal": func() {
			h.WaitSignal(0, 1, limit)
			h.PutSignal(0, 1, limit)
			h.WaitSignal(0, 1, limit)
		},
		"put_signal": func() {
			h.PutSignal(0, 1)
			h.PutSignal(0, 1, limit)
			h.WaitSignal(0, 1, limit)
			h.WaitSignal(0, 1, limit)
		},
	} {
		start := time.Now()
		deadlock()
		var e *Error
		if err := Maybe(rt.Synchronize); !errors.As(err, &e) || e.Kind != KindTimeout || e.Op != op {
			t.Errorf("%s: %v", op, err)
		}
		if took := time.Since(start); took > pace.Unhurried(10*time.Duration(limit)) {
			t.Errorf("%s: it waited more than once, %v", op, took)
		}
		if sent := len(rt.PendingSignals()); sent != map[string]int{"wait_signal": 0, "put_signal": 1}[op] {
			t.Errorf("%s: %q is pending", op, rt.PendingSignals())
		}
		if op == "wait_signal" {
			h.PutSignal(0, 1, limit)
		}
		h.WaitSignal(0, 1, limit) // that was reported: now all go on
		if err := Maybe(rt.Synchronize); err != nil {
			t.Errorf("%s: afterwards: %v", op, err)
		}
	}
}
