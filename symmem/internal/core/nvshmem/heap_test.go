package nvshmem

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// alone is a group of one rank, whose waits end with a context.
type alone struct {
	sync.Mutex
	ctx context.Context
}

func (*alone) String() string       { return "world" }
func (*alone) Rank() int            { return 0 }
func (*alone) Ranks() []int         { return []int{0} }
func (*alone) Channels() int        { return 2 }
func (*alone) Split() *places.Split { return nil }
func (*alone) Gather(_, _ string, mine []byte, failed error) ([][]byte, error) {
	return [][]byte{mine}, failed
}
func (*alone) Absent(err error) bool {
	return err != nil && strings.Contains(err.Error(), "cannot go on")
}
func (*alone) Part(context.Context, string) error { return nil }
func (*alone) Waiting(string) func()              { return func() {} }
func (g *alone) Context() context.Context         { return g.ctx }

// gpu is a device with the library, and library the library and its heap.
type gpu struct {
	device.Device
	l *library
}

func (d gpu) Heaps([]string) (device.Heaps, error) { return d.l, nil }
func (gpu) Alloc(int) (device.Ptr, error)          { return 4096, nil }
func (gpu) Free(device.Ptr) error                  { return nil }

type library struct{ freed, left int }

func (*library) Name() string           { return "NVSHMEM 3.4.5" }
func (*library) NewID() ([]byte, error) { return []byte("id"), nil }
func (l *library) Join(ctx context.Context, _ []byte, _, _ int) (device.Heap, error) {
	return l, ctx.Err()
}
func (l *library) NewSegment(ctx context.Context, _ int) (device.HeapSegment, error) {
	return segment{l: l}, ctx.Err()
}
func (l *library) Close(context.Context) error { l.left++; return nil }

type segment struct {
	device.HeapSegment
	l *library
}

func (s segment) Free(context.Context) error { s.l.freed++; return nil }

// tensor is memory of the heap.
type tensor struct{ s device.Segment }

func (tensor) ID() string                { return "world tensor 0" }
func (m tensor) Segment() device.Segment { return m.s }
func (tensor) Stale() bool               { return false }

// A heap is made with its first memory, left by Close, and lost with a call that is given up: its memory
// stays then.
func TestHeap(t *testing.T) {
	for _, lost := range []bool{false, true} {
		l := &library{}
		ctx, giveUp := context.WithCancel(t.Context())
		g := &alone{ctx: ctx}
		h := NewHeap(World{Device: gpu{l: l}})
		seg, err := h.Segment(g, "Empty", "f32[4]", 16)
		if err != nil {
			t.Fatal(err)
		}
		if lost {
			giveUp()
			if _, err := h.Segment(g, "Empty", "f32[4]", 16); err == nil {
				t.Error("a call that was given up has memory")
			}
		}
		if err := h.DropMemory("Free", tensor{seg}); err != nil {
			t.Error(err)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if want := map[bool]library{false: {1, 1}}[lost]; *l != want {
			t.Errorf("lost %v: of the heap was freed and left %+v, want %+v", lost, *l, want)
		}
		giveUp()
	}
}

// A call is refused for the first reason that stands in its way.
func TestRefuses(t *testing.T) {
	g, backend := &alone{ctx: t.Context()}, "NVSHMEM"
	world := World{Device: gpu{l: &library{}}, Name: "cuda:0", Backend: func() (string, string) { return backend, "ask for it" }}
	h := NewHeap(world)
	seg, err := h.Segment(g, "Empty", "f32[4]", 16)
	if err != nil {
		t.Fatal(err)
	}
	r := seam.Request{Of: operators.WaitSignal, Group: g, Tensor: "f32[4]", Captured: true}
	check := func(want string) {
		t.Helper()
		if err := h.Refuses(&r); err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	h.Device = struct{ device.Device }{}
	check("NVSHMEM needs the cuda device, this is cuda:0 (leave it out)")
	h.Device, backend = world.Device, "CUDA"
	check("NVSHMEM needs memory of its heap, and the back end is CUDA (leave it out, or choose the back end NVSHMEM: ask for it)")
	backend = "NVSHMEM"
	check("f32[4] is not memory of NVSHMEM's heap (give a handle of a tensor that symm.Empty made)")
	r.Segment = seg
	check("the signals by NVSHMEM are of world, not of world (leave Via out, or use a handle of world)")
	r.Whole = true
	check("waits by NVSHMEM cannot be captured: in a graph nothing could end them (leave it out)")
	r.Captured = false
	check("")
	h.Settle(seam.Loss{Gone: []int{0}})
	check("NVSHMEM cannot go on: rank 0 is gone (leave Via out)")
}

// The ranks can have the heap where each has a GPU whose memory the others can map.
func TestWhyNone(t *testing.T) {
	for _, c := range []struct {
		at      *places.Places
		sharing string
		why     string
	}{
		{nil, "", ""},
		{&places.Places{Parts: [][]int{{0, 1}}, Machines: 1}, "", ""},
		{&places.Places{Parts: [][]int{{0}, {1}}, Machines: 1}, "", "it reaches the memory of other ranks by pointers, and the ranks 0 and 1 have none to each other's"},
		{nil, "ranks 0,1 share a GPU", "ranks 0,1 share a GPU, and NVSHMEM needs a GPU for each PE"},
	} {
		if why, hint := WhyNone(c.at, c.sharing); why != c.why || (hint == "") != (why == "") {
			t.Errorf("%+v, %q: %q, %q", c.at, c.sharing, why, hint)
		}
	}
}
