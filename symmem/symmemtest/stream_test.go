package symmemtest

import (
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

func streamsCase(t *T) {
	s := symmem.NewStream()
	x, y := symmem.Local(symmem.I32, 1<<16), symmem.Local(symmem.I32, 1<<16)
	done := symmem.NewEvent()
	symmem.Synchronize()
	for i := range 10 {
		symmem.OnStream(s, func() {
			x.Fill(i)
			done.Record()
		})
		done.Wait() // the current stream follows s
		y.CopyFrom(x)
		t.equal("ordered by an event", y.Slice(1<<16-1, 1<<16).Ints(), []int{i})
		done.Record()
		done.Wait(s)
	}
	var inner *symmem.Tensor
	symmem.OnStream(s, func() { inner = symmem.Local(symmem.F32, 7777777).Fill(3) })
	s.Synchronize()
	t.equal("made on a stream", inner.Slice(777775, 777777).Ints(), []int{3, 3})
	if d := symmem.Elapsed(func() { x.Fill(1) }); d < 0 || d > time.Minute {
		t.Errorf("a fill took %v", d)
	}
	before, after := symmem.NewEvent(), symmem.NewEvent()
	before.Record()
	x.Fill(2)
	after.Record()
	after.Synchronize()
	if d := after.Since(before); d < 0 || d > time.Minute {
		t.Errorf("a fill took %v", d)
	}
	before.Free()
	after.Free()
	done.Free()
	t.refused(symmem.KindMisuse, func() { symmem.OnStream(nil, func() {}) }, "nil")
	symmem.OnStream(s, func() {
		t.refused(symmem.KindMisuse, s.Free, "in use")
	})
	s.Free()
	t.refused(symmem.KindMisuse, func() { symmem.OnStream(s, func() {}) }, "freed")
	t.refused(symmem.KindMisuse, s.Free, "freed already")
	// A stream whose wait gave up is freed all the same, and Free reports the failed wait.
	word := symmem.Empty(symmem.I32, 1)
	s = symmem.NewStream()
	symmem.Rendezvous(word).WaitForSignal(0, "==", 7, symmem.Timeout(20*time.Millisecond), s)
	t.refused(symmem.KindTimeout, s.Free, "waited")
	symmem.Recover()
	word.Free()
	t.refused(symmem.KindMisuse, s.Free, "freed already")
	// Memory of a freed stream's tensors is reused once the work on other streams is over.
	symmem.Synchronize()
	p := inner.Ptr()
	inner.Free()
	t.equal("memory", symmem.Local(symmem.F32, 7777777).Ptr(), p)
}

// streamsShareSignalsCase issues communication of one group on several streams, in different orders
// of arrival: operations do not overlap, so none deadlocks and no results are mixed up.
func streamsShareSignalsCase(t *T) {
	streams := []*symmem.Stream{symmem.NewStream(), symmem.NewStream()}
	x := symmem.Empty(symmem.I32, 600)
	h := symmem.Rendezvous(x)
	x.Fill(t.rank + 1)
	symmem.Synchronize()
	want := t.size * (t.size + 1) / 2
	var results []*symmem.Tensor
	for i := range 30 {
		s := streams[i%2]
		symmem.OnStream(s, func() {
			h.Barrier(0)
			results = append(results, symmem.OneShotAllReduce(x, "sum"))
			h.PutSignal((t.rank+1)%t.size, 1)
		})
		symmem.OneShotAllReduce(x, "max", streams[1-i%2]).Free()
		h.WaitSignal((t.rank+t.size-1)%t.size, 1, streams[1-i%2])
	}
	for i, r := range results {
		symmem.OnStream(streams[i%2], func() {
			t.equal("sum", r.Ints(), slices.Repeat([]int{want}, 600))
		})
	}
	// Signal words are not chained: every rank first waits on one stream for a signal that it then
	// puts on another.
	h.WaitForSignal(1, "==", 9, streams[0], symmem.Timeout(20*time.Second))
	symmem.OnStream(streams[1], func() {
		h.PutWithSignal((t.rank+1)%t.size, symmem.Local(symmem.I32, 1).Fill(-4), 1, 9)
	})
	streams[0].Synchronize()
	t.equal("put across streams", x.Slice(0, 2).Ints(), []int{-4, t.rank + 1})
	symmem.Synchronize()
	t.meet()
	for _, s := range streams {
		s.Free()
	}
	x.Free()
}

func graphsCase(t *T) {
	x, y := symmem.Empty(symmem.I32, 500), symmem.Local(symmem.I32, 500)
	h := symmem.Rendezvous(x)
	scale := symmem.Compile(`extern "C" __global__ void add(int* x, int n, int a) {
		for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] += a;
	}`)
	right, left := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	step := func() {
		scale.Launch(symmem.Grid(2), symmem.Block(128), x, 500, t.rank)
		symmem.OneShotAllReduceOut(x, "sum", y)
		h.PutSignal(right, 2)
		h.WaitSignal(left, 2)
		h.Barrier(2)
	}
	g := symmem.Capture(step)
	t.equal("nothing ran", x.Ints(), make([]int, 500))
	other := symmem.NewStream()
	ranks := t.size * (t.size - 1) / 2
	for i := 1; i <= 4; i++ {
		if i%2 == 0 {
			g.Replay(other)
			other.Synchronize()
		} else {
			g.Replay()
		}
		t.equal("x", x.Ints(), slices.Repeat([]int{i * t.rank}, 500))
		t.equal("sum", y.Ints(), slices.Repeat([]int{i * ranks}, 500))
	}
	// Replays mix with eager calls.
	step()
	g.Replay()
	t.equal("mixed", y.Ints(), slices.Repeat([]int{6 * ranks}, 500))
	g.Free()
	t.refused(symmem.KindMisuse, func() { g.Replay() }, "was freed")
	t.refused(symmem.KindMisuse, g.Free, "freed already")
	t.meet()
	other.Free()
	x.Free()
}

func graphMisuseCase(t *T) {
	x := symmem.Empty(symmem.I32, 8)
	symmem.Rendezvous(x)
	y := symmem.Local(symmem.I32, 8)
	for name, f := range map[string]func(){
		"Empty":               func() { symmem.Empty(symmem.I32, 8) },
		"Rendezvous":          func() { symmem.Rendezvous(x.Slice(0, 1)) },
		"Ints":                func() { y.Ints() },
		"Float32s":            func() { y.Float32s() },
		"CopyFrom":            func() { y.CopyFrom(make([]int32, 8)) },
		"Free":                func() { x.Free() },
		"Synchronize":         symmem.Synchronize,
		"NewGroup":            func() { symmem.NewGroup(t.rank) },
		"NewStream":           func() { symmem.NewStream() },
		"Elapsed":             func() { symmem.Elapsed(func() {}) },
		"Capture":             func() { symmem.Capture(func() {}) },
		"one_shot_all_reduce": func() { symmem.OneShotAllReduce(x, "sum") },
		"Local":               func() { symmem.Local(symmem.I8, 1) },
		"all_gather":          func() { symmem.AllGather(x, symmem.CopyEngine()) },
		"get_signal":          func() { symmem.Rendezvous(x).GetSignal(0) },
		"PendingSignals":      func() { symmem.PendingSignals() },
	} {
		var e *symmem.Error
		t.refused(symmem.KindMisuse, func() {
			symmem.Capture(func() {
				defer func() {
					r := recover()
					e, _ = r.(*symmem.Error)
					panic(r)
				}()
				f()
			})
		}, "graph")
		if e == nil || e.Op != name {
			t.Errorf("%s in a capture: %v", name, e)
		}
	}
	// After each refusal everything works.
	y.Fill(1)
	g := symmem.Capture(func() { y.Fill(2) })
	t.equal("before", y.Ints(), slices.Repeat([]int{1}, 8))
	g.Replay()
	t.equal("after", y.Ints(), slices.Repeat([]int{2}, 8))
	y.Free()
	t.refused(symmem.KindMisuse, func() { g.Replay() }, "was freed")
	g.Free()
	symmem.Synchronize()
	t.meet()
	x.Free()
}
