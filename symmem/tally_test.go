package symmem

import "testing"

// TestTallies checks that calls have equal tallies exactly if they are equal in everything that
// members must give alike.
func TestTallies(t *testing.T) {
	calls := map[string]func(rt *Runtime, x, y *Tensor){
		"sum":               func(rt *Runtime, x, y *Tensor) { rt.AllReduce(x.Slice(0, 4), "sum") },
		"max":               func(rt *Runtime, x, y *Tensor) { rt.AllReduce(x.Slice(0, 4), "max") },
		"fewer":             func(rt *Runtime, x, y *Tensor) { rt.AllReduce(x.Slice(0, 3), "sum") },
		"type":              func(rt *Runtime, x, y *Tensor) { rt.AllReduce(x.Slice(0, 4).As(I32), "sum") },
		"part":              func(rt *Runtime, x, y *Tensor) { rt.AllReduce(x.Slice(4, 8), "sum") },
		"tensor":            func(rt *Runtime, x, y *Tensor) { rt.AllReduce(y.Slice(0, 4), "sum") },
		"op":                func(rt *Runtime, x, y *Tensor) { rt.TwoShotAllReduce(x.Slice(0, 4), "sum") },
		"out":               func(rt *Runtime, x, y *Tensor) { rt.TwoShotAllReduceOut(x.Slice(0, 4), "sum", y.Slice(0, 4)) },
		"part of out":       func(rt *Runtime, x, y *Tensor) { rt.TwoShotAllReduceOut(x.Slice(0, 4), "sum", y.Slice(4, 8)) },
		"root":              func(rt *Runtime, x, y *Tensor) { rt.Broadcast(x, 0) },
		"gathered":          func(rt *Runtime, x, y *Tensor) { rt.AllGather(x) },
		"gathered part":     func(rt *Runtime, x, y *Tensor) { rt.AllGather(x.Slice(1, 8)) },
		"gathered to peers": func(rt *Runtime, x, y *Tensor) { rt.AllGatherOut(x, y) },
		"tile": func(rt *Runtime, x, y *Tensor) {
			rt.TileReduce(x.View(2, 4).Tile(0, 2, 0, 2), y.View(2, 4).Tile(0, 2, 0, 2), 0, "sum")
		},
		"place of the tile": func(rt *Runtime, x, y *Tensor) {
			rt.TileReduce(x.View(2, 4).Tile(0, 2, 1, 3), y.View(2, 4).Tile(0, 2, 0, 2), 0, "sum")
		},
	}
	tally := func(f func(rt *Runtime, x, y *Tensor)) uint64 {
		rt := newIdle(t)
		x, y := rt.Empty(F32, 8), rt.Empty(F32, 8)
		rt.Rendezvous(x)
		rt.Rendezvous(y)
		f(rt, x, y)
		all := rt.Tallies()
		if len(all) != 1 || all[0].Calls != 1 {
			t.Fatalf("one call is tallied as %+v", all)
		}
		return all[0].Digest
	}
	names := map[uint64]string{}
	for name, f := range calls {
		d := tally(f)
		if other, ok := names[d]; ok {
			t.Errorf("%q and %q have the same tally", name, other)
		}
		names[d] = name
		if again := tally(f); again != d {
			t.Errorf("%q has the tallies %x and %x", name, d, again)
		}
	}
	// What is a rank's own is not compared.
	whole := tally(func(rt *Runtime, x, y *Tensor) { rt.OneShotAllReduceOut(x.Slice(0, 4), "sum", rt.Local(F32, 4)) })
	if into := tally(func(rt *Runtime, x, y *Tensor) { rt.OneShotAllReduceOut(x.Slice(0, 4), "sum", y.Slice(3, 7)) }); into != whole {
		t.Errorf("the place of a result that is a rank's own is tallied")
	}
}
