package symmemtest

import (
	"errors"

	"github.com/symmrepl/symmrepl/symmem"
)

// useAfterFreeCase calls every method of objects that were freed: each is refused, and the world
// goes on.
func useAfterFreeCase(t *T) {
	x := symmem.Empty(symmem.I32, 16)
	symmem.Rendezvous(x)
	defer x.Free()
	s, e, other := symmem.NewStream(), symmem.NewEvent(), symmem.NewEvent()
	other.Record()
	g := symmem.Capture(func() { x.Fill(1) })
	s.Free()
	e.Record()
	e.Free()
	g.Free()
	for name, f := range map[string]func(){
		"Stream.Synchronize": s.Synchronize,
		"Stream.Free":        s.Free,
		"OnStream":           func() { symmem.OnStream(s, func() {}) },
		"Event.Record on it": func() { other.Record(s) },
		"Event.Wait on it":   func() { other.Wait(s) },
		"AllReduce on it":    func() { symmem.AllReduce(x, "sum", s) },
		"Event.Record":       func() { e.Record() },
		"Event.Wait":         func() { e.Wait() },
		"Event.Synchronize":  e.Synchronize,
		"Event.Since":        func() { e.Since(other) },
		"Event.Since it":     func() { other.Since(e) },
		"Event.Since itself": func() { e.Since(e) },
		"Event.Free":         e.Free,
		"Replay":             func() { g.Replay() },
		"Graph.Elapsed":      func() { g.Elapsed(1) },
		"Graph.Free":         g.Free,
	} {
		if err := symmem.Maybe(f); err == nil {
			t.Errorf("%s is not refused", name)
			continue
		}
		t.refused(symmem.KindMisuse, f, "freed")
	}
	other.Synchronize()
	other.Free()
	t.stillSums()
}

// nilArgumentsCase gives nil for every receiver and function, and invalid timeouts: each is refused
// with the argument's name.
func nilArgumentsCase(t *T) {
	var (
		x  *symmem.Tensor
		h  *symmem.Handle
		g  *symmem.Group
		s  *symmem.Stream
		e  *symmem.Event
		w  *symmem.Work
		gr *symmem.Graph
		k  *symmem.Kernel
		l  *symmem.Tile
	)
	good, event := symmem.Local(symmem.F32, 4), symmem.NewEvent()
	defer event.Free()
	for name, f := range map[string]func(){
		"f of OnStream": func() { s := symmem.NewStream(); defer s.Free(); symmem.OnStream(s, nil) },
		"f of Capture":  func() { symmem.Capture(nil) },
		"f of Async":    func() { symmem.Async(nil) },
		"f of Explain":  func() { symmem.Explain(nil) }, "f of Trace": func() { symmem.Trace(nil) }, "f of Elapsed": func() { symmem.Elapsed(nil) },
		"f of UseMemPool": func() { symmem.UseMemPool(nil) },
		"tensor DType":    func() { x.DType() }, "tensor Shape": func() { x.Shape() }, "tensor Numel": func() { x.Numel() },
		"tensor Bytes": func() { x.Bytes() }, "tensor Symmetric": func() { x.Symmetric() }, "tensor Ptr": func() { x.Ptr() },
		"tensor Fill": func() { x.Fill(1) }, "tensor Free": func() { x.Free() }, "tensor Ints": func() { x.Ints() },
		"tensor AllReduce": func() { symmem.AllReduce(x, "sum") }, "tensor CopyFrom": func() { good.CopyFrom(x) },
		"tensor Rendezvous": func() { symmem.Rendezvous(x) }, "tensor zero": func() { new(symmem.Tensor).Fill(1) },
		"handle Rank": func() { h.Rank() }, "handle WorldSize": func() { h.WorldSize() }, "handle Group": func() { h.Group() },
		"handle BufferSize": func() { h.BufferSize() }, "handle Offset": func() { h.Offset() }, "handle Barrier": func() { h.Barrier(0) },
		"handle SignalPadSize": func() { h.SignalPadSize() }, "handle BufferPtrs": func() { h.BufferPtrs() },
		"handle zero": func() { new(symmem.Handle).Barrier(0) },
		"group Rank":  func() { g.Rank() }, "group Size": func() { g.Size() }, "group Ranks": func() { g.Ranks() },
		"group Channels": func() { g.Channels() }, "group Free": func() { g.Free() }, "group Empty": func() { g.Empty(symmem.F32) },
		"group option": func() { symmem.AllReduce(good, "sum", g) }, "group zero": func() { symmem.AllReduce(good, "sum", new(symmem.Group)) },
		"stream Free": func() { s.Free() }, "stream Synchronize": func() { s.Synchronize() },
		"stream option":   func() { symmem.AllReduce(good, "sum", s) },
		"stream OnStream": func() { symmem.OnStream(nil, func() {}) }, "stream zero": func() { new(symmem.Stream).Synchronize() },
		"event Record": func() { e.Record() }, "event Wait": func() { e.Wait() }, "event Synchronize": func() { e.Synchronize() },
		"event Since": func() { e.Since(event) }, "earlier Since": func() { event.Since(nil) }, "event Free": func() { e.Free() },
		"work Wait": func() { w.Wait() }, "work Synchronize": func() { w.Synchronize() }, "work Done": func() { w.Done() }, "work Time": func() { w.Time() },
		"graph Replay": func() { gr.Replay() }, "graph Elapsed": func() { gr.Elapsed(1) }, "graph Free": func() { gr.Free() },
		"kernel Name": func() { k.Name() }, "kernel Kernel": func() { k.Kernel("k") },
		"kernel Launch":    func() { k.Launch(symmem.Grid(1), symmem.Block(1)) },
		"tile Shape":       func() { l.Shape() },
		"Timeout zero":     func() { symmem.AllReduce(good, "sum", symmem.Timeout(0)) },
		"Timeout negative": func() { symmem.AllReduce(good, "sum", symmem.Timeout(-1)) },
	} {
		var refused *symmem.Error
		if err := symmem.Maybe(f); !errors.As(err, &refused) || refused.Kind != symmem.KindMisuse || refused.Arg == "" ||
			name[:len(refused.Arg)] != refused.Arg {
			t.Errorf("%s: %#v", name, err)
		}
	}
	if symmem.Maybe(nil) == nil {
		t.Errorf("Maybe of nil is not refused")
	}
	t.stillSums()
}

// stillSums checks that a collective operation is right after calls were refused.
func (t *T) stillSums() {
	x := symmem.Empty(symmem.I32, 16)
	defer x.Free()
	symmem.Rendezvous(x)
	x.Fill(t.rank + 1)
	t.equal("afterwards", symmem.AllReduce(x, "sum").Slice(0, 1).Ints(), []int{t.size * (t.size + 1) / 2})
}
