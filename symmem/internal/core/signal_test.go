package symmem

import (
	"errors"
	"testing"
	"time"

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
