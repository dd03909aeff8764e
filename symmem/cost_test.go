package symmem

import (
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/devices"
)

// idleDevice is the cpu device with streams that drop their launches: what is left is the host's
// own cost of a call.
type idleDevice struct{ device.Device }

type idleStream struct{ device.Stream }

func (d idleDevice) NewStream() (device.Stream, error) {
	s, err := d.Device.NewStream()
	return idleStream{s}, err
}

func (idleStream) Launch(device.Kernel, device.Launch) error { return nil }

func newIdle(tb testing.TB) *Runtime {
	d, err := cpu.Open(0)
	if err != nil {
		tb.Fatal(err)
	}
	kind, err := devices.Find("cpu")
	if err != nil {
		tb.Fatal(err)
	}
	rt, err := newRuntime(kind, idleDevice{d}, 0, Config{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { rt.Close() })
	return rt
}

// TestHotPathAllocations holds the calls of an inner loop to what they must allocate: nothing, or
// the result.
func TestHotPathAllocations(t *testing.T) {
	rt := newIdle(t)
	x, out := rt.Empty(BF16, 2048), rt.Local(BF16, 2048)
	h := rt.Rendezvous(x)
	for name, c := range map[string]struct {
		most float64
		f    func()
	}{
		"OneShotAllReduceOut":       {0, func() { rt.OneShotAllReduceOut(x, "sum", out) }},
		"OneShotAllReduce and Free": {4, func() { rt.OneShotAllReduce(x, "sum").Free() }},
		"PutSignal":                 {2, func() { h.PutSignal(0, 0) }},
		"Barrier":                   {2, func() { h.Barrier(0) }},
	} {
		if got := testing.AllocsPerRun(100, c.f); got > c.most {
			t.Errorf("%s allocates %v times, at most %v are allowed", name, got, c.most)
		}
	}
}

func BenchmarkHostCost(b *testing.B) {
	rt := newIdle(b)
	x, out := rt.Empty(BF16, 2048), rt.Local(BF16, 2048)
	h := rt.Rendezvous(x)
	b.Run("OneShotAllReduce", func(b *testing.B) {
		for b.Loop() {
			rt.OneShotAllReduce(x, "sum")
		}
	})
	b.Run("OneShotAllReduceOut", func(b *testing.B) {
		for b.Loop() {
			rt.OneShotAllReduceOut(x, "sum", out)
		}
	})
	b.Run("PutSignal", func(b *testing.B) {
		for b.Loop() {
			h.PutSignal(0, 0)
		}
	})
	b.Run("Barrier", func(b *testing.B) {
		for b.Loop() {
			h.Barrier(0)
		}
	})
}
