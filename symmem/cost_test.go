package symmem

import (
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/devices"
)

// idleDevice is the cpu device with streams that drop their launches: what is left is the host's
// own cost of a call.
type idleDevice struct {
	device.Device
	records *int
}

type idleStream struct {
	device.Stream
	records *int // how many events were recorded on all streams
}

func (d idleDevice) NewStream() (device.Stream, error) {
	s, err := d.Device.NewStream()
	return idleStream{s, d.records}, err
}

func (idleStream) Launch(device.Kernel, device.Launch) error { return nil }

func (s idleStream) Record(e device.Event) error {
	*s.records++
	return s.Stream.Record(e)
}

func newIdle(tb testing.TB) *Runtime { return newIdleOn(tb, new(int)) }

func newIdleOn(tb testing.TB, records *int) *Runtime {
	return newOn(tb, func(d device.Device) device.Device { return idleDevice{d, records} })
}

// newOn returns a world of one rank on what wrap makes of the cpu device.
func newOn(tb testing.TB, wrap func(device.Device) device.Device) *Runtime {
	d, err := cpu.Open(0)
	if err != nil {
		tb.Fatal(err)
	}
	kind, err := devices.Find("cpu")
	if err != nil {
		tb.Fatal(err)
	}
	rt, err := newRuntime(kind, wrap(d), 0, Config{})
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

// TestEventsOfGroups counts the events that mark the ends of uses of a group's signals: none as long
// as one stream uses them, and then one for the first use on another stream and one for each use.
func TestEventsOfGroups(t *testing.T) {
	records := 0
	rt := newIdleOn(t, &records)
	x, out := rt.Empty(F32, 4), rt.Local(F32, 4)
	reduce := func() { rt.OneShotAllReduceOut(x, "sum", out) }
	first, second := rt.NewStream(), rt.NewStream()
	for _, step := range []struct {
		stream *Stream
		want   int
	}{{first, 0}, {first, 0}, {second, 2}, {second, 3}, {first, 4}} {
		rt.OnStream(step.stream, reduce)
		if records != step.want {
			t.Fatalf("%d events were recorded, want %d", records, step.want)
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
