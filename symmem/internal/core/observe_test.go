package symmem

import (
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// counting is an observer that counts what it hears.
type counting struct {
	seam.Blind
	heard map[string]int
	route seam.Route
}

func (c *counting) Admitted(*seam.Sight) { c.heard["admitted"]++ }
func (c *counting) Ran(string, bool)     { c.heard["ran"]++ }
func (c *counting) Issued(s *seam.Sight) { c.heard["issued"]++; c.route = s.Route }

// A call tells observers of each step once, and nothing when none is there. Afterwards the world holds
// no handle of it.
func TestObservers(t *testing.T) {
	d, err := cpu.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	rt, err := New(d, Config{Plan: tuning.CPU, Name: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	x, large := rt.Empty(U8, 2*putCopies), rt.Local(U8, 2*putCopies)
	h := rt.Rendezvous(x)
	c := &counting{heard: map[string]int{}}
	done := rt.observeWith(c)
	rt.StartTrace()                 // which hears of signals
	h.PutWithSignal(0, large, 1, 7) // a copy and a kernel
	rt.StopTrace()
	done()
	if c.heard["admitted"] != 1 || c.heard["ran"] != 1 || c.heard["issued"] != 1 {
		t.Errorf("of one call it heard %v", c.heard)
	}
	if want := (seam.Route{Way: "to", Bytes: 2 * putCopies}); c.route != want {
		t.Errorf("the route is %+v, want %+v", c.route, want)
	}
	if s := rt.signal; s != (signalling{}) {
		t.Errorf("the world holds the signal %+v", s)
	}
	h.PutWithSignal(0, large, 1, 8)
	if rt.observing() != nil || rt.following() != nil || c.heard["admitted"] != 1 {
		t.Errorf("without observers: %v, %v, and it heard %v", rt.observing(), rt.following(), c.heard)
	}
}

// A call goes by the first carrier that takes it, and by the one that it asks for, or is refused.
func TestCarriers(t *testing.T) {
	d, err := cpu.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	rt, err := New(d, Config{Plan: tuning.CPU, Name: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	x := rt.Empty(U8, 1)
	h := rt.Rendezvous(x)
	for via, want := range map[Via]string{
		"flat":    `put: Via of put must be "NCCL" or "NVSHMEM", not "flat"`,
		"NCCL":    "put: NCCL needs the cuda device, this is cpu",
		"NVSHMEM": "put: NVSHMEM needs the cuda device, this is cpu",
		"ring":    `put: the ways are "flat", "hierarchical", "NCCL" and "NVSHMEM", not "ring"`,
	} {
		err := Maybe(func() { h.Put(0, x, via) })
		if e, ok := err.(*Error); !ok || e.Op+": "+e.Msg != want {
			t.Errorf("%s: %v, want %s", via, err, want)
		}
	}
	h.Put(0, x)
	rt.Synchronize()
}
