package symmemtest

import (
	"fmt"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// slowCase: the calls of the rank that Slow names begin late on their stream, also in a graph.
func slowCase(t *T) {
	const late = 20 * time.Millisecond
	inbox, x := symmem.Empty(symmem.I32, 4), symmem.Local(symmem.I32, 4)
	h := symmem.Rendezvous(inbox)
	add := symmem.Compile(`__global__ void add(int* x) { x[threadIdx.x] += 1; }`)
	grid, block := symmem.Grid(1), symmem.Block(4)
	next := (t.rank + 1) % t.size
	graph := symmem.Capture(func() { add.Launch(grid, block, x) })
	calls := []struct {
		name string
		sort string
		call func()
	}{
		{"a launch", "launches", func() { add.Launch(grid, block, x) }},
		{"a replay", "launches", func() { graph.Replay() }},
		{"a put", "puts", func() { h.Put(next, x) }},
		{"a put with a signal", "puts", func() { h.PutWithSignal(next, x, 0, 1) }},
		{"a put with a signal", "signals", func() { h.PutWithSignal(next, x, 0, 1) }},
		{"a signal", "signals", func() { h.SignalAdd(next, 1, 1) }},
		{"a barrier", "", func() { h.Barrier(0) }},
	}
	defer t.rt.Slow("off")
	for _, c := range calls {
		symmem.Slow(fmt.Sprintf("0 %v %s", late, c.sort))
		if took := symmem.Elapsed(c.call); t.rank == 0 && took < late {
			t.Errorf("%s took %v with the setting %q", c.name, took, t.rt.Slowed())
		}
	}
	symmem.Slow(fmt.Sprintf("0 %v", late))
	slow := symmem.Capture(func() { add.Launch(grid, block, x) })
	symmem.Slow("off")
	if took := symmem.Elapsed(func() { slow.Replay() }); t.rank == 0 && took < late {
		t.Errorf("the replay of a graph that was captured late took %v", took)
	}
	t.refused(symmem.KindMisuse, func() { symmem.Slow(fmt.Sprintf("%d 1us", t.size)) }, `"2 50us"`)
	t.equal("the setting", t.rt.Slowed(), "no rank is slowed")
	h.Barrier(0)
	graph.Free()
	slow.Free()
	inbox.Free()
}

// slowFindsCase: a program that lacks a wait reads a value before it was put, once the put is late;
// a program with the wait reads it all the same.
func slowFindsCase(t *T) {
	x, late := symmem.Empty(symmem.I32, 4), symmem.Empty(symmem.I32, 1)
	seven := symmem.Local(symmem.I32, 4)
	seven.Fill(7)
	h := symmem.Rendezvous(x)
	defer t.rt.Slow("off")
	var met []*symmem.Tensor
	// unlike t.meet, which frees its tensor, meet does not wait for the device
	meet := func() { met = append(met, symmem.Empty(symmem.U8, 1)) }
	// put lets rank 1 put and read(x) on rank 0 read afterwards. It reports whether the put was still
	// to come then.
	put := func(signal bool, read func()) bool {
		x.Fill(0)
		h.Barrier(0)
		symmem.Synchronize()
		meet()
		var w *symmem.Work
		if t.rank == 1 {
			w = symmem.Async(func() {
				h.Put(0, seven)
				if signal {
					h.PutSignal(0, 0)
				}
			})
		}
		meet()
		if t.rank == 0 {
			read()
		}
		meet()
		late.Fill(0)
		if w != nil && !w.Done() {
			late.Fill(1)
		}
		symmem.Broadcast(late, 1)
		symmem.Synchronize()
		meet()
		return late.Ints()[0] == 1
	}
	for by := 100 * time.Millisecond; ; by *= 2 {
		symmem.Slow(fmt.Sprintf("1 %v puts", by))
		seen := 0
		stillLate := put(false, func() { seen = x.Ints()[0] })
		if !stillLate && 2*by < 10*time.Second {
			continue // this machine is slower than the delay
		}
		t.equal("what is read without a wait while the put is late", []any{seen, stillLate}, []any{0, true})
		break
	}
	symmem.Slow("1 50ms puts")
	put(true, func() {
		h.WaitSignal(1, 0)
		t.equal("what is read after a wait", x.Ints(), []int{7, 7, 7, 7})
	})
	x.Free()
	late.Free()
	for _, m := range met {
		m.Free()
	}
}
