//go:build linux && (amd64 || arm64)

package cpu

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu/emu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// A recording has each command with its call, within the time in which it ran, also those of a
// graph; commands outside of calls, and those before and after it, are not in it.
func TestRecording(t *testing.T) {
	b := open(t)
	spin := b.compile(`__global__ void spin(unsigned long long ns) {
	  const unsigned long long end = symm_cpu_nanos() + ns;
	  while (symm_cpu_nanos() < end) symm_cpu_yield();
	}`)["spin"]
	p, q := b.alloc(4096), b.alloc(4096)
	const ms = uint64(time.Millisecond)
	b.stream.Set(p, 1, 4096)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(b.stream.BeginCapture())
	b.launch(spin, 2, 1, ms)
	must(b.stream.Copy(q, p, 100))
	g, err := b.stream.EndCapture()
	must(err)
	must(b.stream.Synchronize())
	from := emu.Now()
	r, err := b.Device.(device.Recorder).StartRecording()
	must(err)
	must(r.Issue(b.stream, 7, func() error { b.launch(spin, 3, 4, 5*ms); return nil }))
	must(r.Issue(b.stream, 8, func() error { return b.stream.Copy(q, p, 4096) }))
	must(r.Issue(b.stream, 0, func() error { return b.stream.Set(p, 2, 4096) }))
	must(r.Issue(b.stream, 9, func() error { return b.stream.Set(p, 2, 64) }))
	must(r.Issue(b.stream, 10, func() error { return g.Launch(b.stream) }))
	must(r.Issue(b.stream, 11, func() error {
		return b.stream.Values([]device.Value{{Word: p, Value: 5}, {Word: p, Value: 5, Await: true}})
	}))
	must(b.stream.Synchronize())
	list, more, err := r.End()
	must(err)
	until := emu.Now()
	must(r.Issue(b.stream, 12, func() error { return b.stream.Set(p, 2, 64) }))
	must(b.stream.Synchronize())

	one := [3]int{1, 1, 1}
	want := []device.Activity{
		{Kind: device.ActivityKernel, Name: "spin", Call: 7, Grid: [3]int{3, 1, 1}, Block: [3]int{4, 1, 1}},
		{Kind: device.ActivityCopy, Name: "copy", Call: 8, Bytes: 4096, Grid: one, Block: one},
		{Kind: device.ActivitySet, Name: "set", Call: 9, Bytes: 64, Grid: one, Block: one},
		{Kind: device.ActivityKernel, Name: "spin", Call: 10, Grid: [3]int{2, 1, 1}, Block: one},
		{Kind: device.ActivityCopy, Name: "copy", Call: 10, Bytes: 100, Grid: one, Block: one},
		{Kind: device.ActivityAwait, Call: 11},
	}
	if more != 0 || len(list) != len(want) {
		t.Fatalf("%d more, %+v", more, list)
	}
	last := int64(from)
	for i, a := range list {
		if a.Begin < last || a.End < a.Begin || a.End > int64(until) {
			t.Errorf("activity %d, from %d until %d, is not between %d and %d", i, a.Begin, a.End, last, until)
		}
		last = a.End
	}
	if took := list[0].End - list[0].Begin; took < int64(5*ms) {
		t.Errorf("a kernel of 5 ms took %d ns", took)
	}
	for i := range list {
		list[i].Begin, list[i].End = 0, 0
	}
	if !slices.Equal(list, want) {
		t.Errorf("%+v, want %+v", list, want)
	}
}

// The wait of a kernel is in a recording with its record, and ends when the kernel found the word,
// not when the kernel ended.
func TestRecordedWait(t *testing.T) {
	b := open(t)
	wait := b.compile(`__global__ void waits(symm::Context c, const unsigned* word, unsigned long long ns) {
	  if (!symm::wait_until<unsigned>(c, word, 1, symm::kEqual, symm::kUser, 3, 5)) return;
	  const unsigned long long end = symm_cpu_nanos() + ns;
	  while (symm_cpu_nanos() < end) symm_cpu_yield();
	}`)["waits"]
	word := b.alloc(4)
	watch := b.Watch()
	r, err := b.Device.(device.Recorder).StartRecording()
	if err != nil {
		t.Fatal(err)
	}
	atomic.OrUint32(&watch.Abort, device.WatchTrace)
	const after = 20 * time.Millisecond
	r.Issue(b.stream, 1, func() error {
		b.launch(wait, 1, 1, bytesOf([]abi.Context{{Watch: abi.Ptr(unsafe.Pointer(watch)), WorldSize: 4, Ordinal: 42}}), word, uint64(after))
		return nil
	})
	for pending := false; !pending; { // the kernel is in its wait
		pending = atomic.LoadUint32(&watch.Waits[3].State) == device.WaitPending
		time.Sleep(time.Millisecond)
	}
	before := int64(emu.Now())
	b.Poke(word, 1)
	if err := b.stream.Synchronize(); err != nil {
		t.Fatal(err)
	}
	atomic.AndUint32(&watch.Abort, ^uint32(device.WatchTrace))
	list, more, _ := r.End()
	if more != 0 || len(list) != 2 || list[0].Kind != device.ActivityWait || list[1].Name != "waits" {
		t.Fatalf("%d more, %+v", more, list)
	}
	w, k := list[0], list[1]
	if w.Wait.Ordinal != 42 || w.Wait.Kind != device.WaitUser || w.Wait.Peer != 3 || w.Wait.Channel != 5 || w.Wait.Want != 1 {
		t.Errorf("%+v", w.Wait)
	}
	if w.Begin < k.Begin || w.End < before || k.End-w.End < int64(after) {
		t.Errorf("the wait %d to %d is not in %d to %d, or did not end at %d", w.Begin, w.End, k.Begin, k.End, before)
	}
}
