//go:build linux && (amd64 || arm64)

package cpu

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

const addText = `__global__ void add(int* p, int n, int v) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) p[i] += v;
}`

func TestCapture(t *testing.T) {
	b := open(t)
	add := b.compile(addText)["add"]
	p, q := b.alloc(400), b.alloc(400)
	if err := b.stream.BeginCapture(); err != nil {
		t.Fatal(err)
	}
	b.launch(add, 2, 32, p, int32(100), int32(3))
	b.stream.Write(q, []byte{9})
	b.launch(add, 2, 32, p, int32(50), int32(4))
	b.stream.Copy(q+4, p, 396)
	if err := b.stream.Synchronize(); !errors.Is(err, device.ErrCapturing) {
		t.Errorf("Synchronize in a capture: %v", err)
	}
	if err := b.stream.Read(make([]byte, 1), p); !errors.Is(err, device.ErrCapturing) {
		t.Errorf("Read in a capture: %v", err)
	}
	g, err := b.stream.EndCapture()
	if err != nil {
		t.Fatal(err)
	}
	if got := download[int32](b, p, 100); slices.Max(got) != 0 {
		t.Error("the capture ran")
	}
	for range 10 {
		if err := g.Launch(b.stream); err != nil {
			t.Fatal(err)
		}
	}
	got := download[int32](b, p, 100)
	if got[0] != 70 || got[49] != 70 || got[50] != 30 || got[99] != 30 {
		t.Errorf("%v", got)
	}
	if got := download[int32](b, q, 100); got[0] != 9 || got[1] != 70 || got[99] != 30 {
		t.Errorf("copy: %v", got)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if _, err := b.stream.EndCapture(); err == nil {
		t.Error("a capture ended that had not begun")
	}
}

func TestEvents(t *testing.T) {
	b := open(t)
	k := b.compile(`
__global__ void nap(unsigned* p, unsigned long long ns) {
  unsigned long long end = symm_cpu_nanos() + ns;
  while (symm_cpu_nanos() < end) symm_cpu_yield();
  *p = 1;
}
__global__ void look(unsigned* p) { p[1] = p[0]; }`)
	other, err := b.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	begin, _ := b.NewEvent()
	end, _ := b.NewEvent()
	p := b.alloc(8)
	const nap = 20 * time.Millisecond
	b.stream.Record(begin)
	b.launch(k["nap"], 1, 1, p, uint64(nap))
	b.stream.Record(end)
	other.Wait(end)
	if err := other.Launch(k["look"], device.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}, Args: bytesOf([]uint64{uint64(p)})}); err != nil {
		t.Fatal(err)
	}
	if err := other.Synchronize(); err != nil {
		t.Fatal(err)
	}
	if got := download[uint32](b, p, 2); got[1] != 1 {
		t.Errorf("the other stream did not wait: %v", got)
	}
	if err := end.Synchronize(); err != nil {
		t.Fatal(err)
	}
	us, err := end.Since(begin)
	if err != nil || us < float64(nap.Microseconds()) || us > 5e6 {
		t.Errorf("%v µs, %v", us, err)
	}
	fresh, _ := b.NewEvent()
	if _, err := fresh.Since(begin); err == nil {
		t.Error("time since an event that was not reached")
	}
	reached := func(e device.Event, want bool) {
		t.Helper()
		if got, err := e.Reached(); got != want || err != nil {
			t.Errorf("the event was reached: %v (%v)", got, err)
		}
	}
	reached(fresh, true) // never recorded
	other.Values([]device.Value{{Word: p, Value: 9, Await: true}})
	other.Record(fresh)
	reached(fresh, false)
	b.stream.SetWords(p, 9, 1)
	fresh.Synchronize()
	reached(fresh, true)
	for _, e := range []device.Event{begin, end, fresh} {
		e.Close()
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
}

func TestLaunchChecks(t *testing.T) {
	b := open(t)
	add := b.compile(addText)["add"]
	ok := device.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}, Args: make([]byte, 16)}
	for name, change := range map[string]func(*device.Launch){
		"empty grid":       func(l *device.Launch) { l.Grid[1] = 0 },
		"negative block":   func(l *device.Launch) { l.Block[0] = -1 },
		"too many threads": func(l *device.Launch) { l.Block = [3]int{1024, 2, 1} },
		"too much shared":  func(l *device.Launch) { l.Shared = 1 << 20 },
		"short arguments":  func(l *device.Launch) { l.Args = l.Args[:12] },
		"huge grid":        func(l *device.Launch) { l.Grid[2] = 70000 },
	} {
		l := ok
		change(&l)
		var e *device.DriverError
		if err := b.stream.Launch(add, l); !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.sync()
}

func TestPrintf(t *testing.T) {
	b := open(t)
	k := b.compile(`__global__ void hello(float x) {
  printf("block %d thread %u: %.2f %s\n", blockIdx.x, threadIdx.x, x, "ok");
}`)["hello"]
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	saved, err := unix.Dup(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Dup2(int(w.Fd()), 1); err != nil {
		t.Fatal(err)
	}
	b.launch(k, 2, 2, float32(1.5))
	err = b.stream.Synchronize()
	unix.Dup2(saved, 1)
	unix.Close(saved)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 1000)
	n, _ := r.Read(text)
	lines := strings.Split(strings.TrimSpace(string(text[:n])), "\n")
	sort.Strings(lines)
	want := []string{"block 0 thread 0: 1.50 ok", "block 0 thread 1: 1.50 ok", "block 1 thread 0: 1.50 ok", "block 1 thread 1: 1.50 ok"}
	if !slices.Equal(lines, want) {
		t.Errorf("%q", lines)
	}
}

// Ten thousand launches must not leak memory.
func TestNoLeak(t *testing.T) {
	b := open(t)
	add := b.compile(addText)["add"]
	p := b.alloc(4)
	resident := func() (pages int) {
		debug.FreeOSMemory() // Go's garbage must not count
		var size int
		text, err := os.ReadFile("/proc/self/statm")
		if err == nil {
			_, err = fmt.Sscan(string(text), &size, &pages)
		}
		if err != nil {
			t.Fatal(err)
		}
		return pages
	}
	run := func(n int) {
		for i := range n {
			b.launch(add, 1, 1, p, int32(1), int32(1))
			if i%100 == 99 {
				b.sync()
			}
		}
		b.sync()
	}
	run(2000)
	before := resident()
	run(20000)
	if grown := (resident() - before) * os.Getpagesize(); grown > 8<<20 {
		t.Errorf("grew by %d bytes", grown)
	}
	if got := download[int32](b, p, 1)[0]; got != 22000 {
		t.Errorf("%d launches were counted", got)
	}
}

// TestEventOnSeveralStreams records an event again on another stream before the first stream has
// reached it.
func TestEventOnSeveralStreams(t *testing.T) {
	d, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	held, free, waiting := mustStream(t, d), mustStream(t, d), mustStream(t, d)
	p, err := d.Alloc(256)
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.NewEvent()
	if err != nil {
		t.Fatal(err)
	}
	held.Values([]device.Value{{Word: p, Value: 1, Await: true}})
	held.Record(e)
	waiting.Wait(e)
	free.Record(e)
	e.Synchronize() // its present place
	if idle, _ := waiting.Idle(); idle {
		t.Error("the stream does not wait for where the event was")
	}
	d.Poke(p, 1)
	if err := waiting.Synchronize(); err != nil {
		t.Error(err)
	}
	held.Synchronize()
	e.Synchronize() // reaching its first place later changes nothing
}

func mustStream(t *testing.T, d device.Device) device.Stream {
	t.Helper()
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
