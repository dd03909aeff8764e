package symmemtest

import (
	"slices"

	"github.com/symmrepl/symmrepl/symmem"
)

// replacementCases belong to TestReplace.
var replacementCases = []testCase{
	{name: "BeforeReplacement", run: beforeReplacement},
	{name: "AfterReplacement", run: afterReplacement},
}

func beforeReplacement(t *T) {
	x := symmem.Empty(symmem.I32, 4).Fill(10 + t.rank)
	t.kept["tensor"], t.kept["handle"] = x, symmem.Rendezvous(x)
	t.kept["local"] = symmem.Local(symmem.I32, 3).Fill(t.rank)
	symmem.UseMemPool(func() {
		t.kept["pooled"] = symmem.Local(symmem.I32, 2).Fill(20 + t.rank)
		symmem.Local(symmem.I32, 2).Free()
	})
	pair, rest := symmem.NewGroup(0, 1), symmem.NewGroup(others(t.size)...)
	t.kept["pair"], t.kept["rest"] = pair, rest
	if rest.Rank() >= 0 {
		y := rest.Empty(symmem.I32, 2).Fill(t.rank)
		symmem.Rendezvous(y)
		t.kept["kept"] = y
	}
	out := symmem.Local(symmem.I32, 4)
	t.kept["sum"] = symmem.Capture(func() { symmem.OneShotAllReduceOut(x, "sum", out) })
	t.kept["barrier"] = symmem.Capture(func() { t.kept["handle"].(*symmem.Handle).Barrier(0) })
	if t.rank == 0 {
		// A pending signal: Recover clears it.
		t.kept["handle"].(*symmem.Handle).PutSignal(0, 0)
	}
	symmem.Synchronize()
	if t.rank == 0 {
		t.kept["handle"].(*symmem.Handle).WaitSignal(0, 0)
	}
}

// others returns all ranks but the replaced one.
func others(size int) []int {
	var ranks []int
	for r := range size {
		if r != 1 {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

func afterReplacement(t *T) {
	if t.rank == 1 {
		t.equal("lost by the new process", len(t.kept["lost"].([]string)), 0)
	} else {
		x, h := t.kept["tensor"].(*symmem.Tensor), t.kept["handle"].(*symmem.Handle)
		want := []string{"rank 1's part of the symmetric tensor i32[4] of world", "rank 1's part of the symmetric tensor i32[2] of world"}
		pooled := t.kept["pooled"].(*symmem.Tensor)
		t.equal("own data of the pool", pooled.Ints(), []int{20 + t.rank, 20 + t.rank})
		t.refused(symmem.KindPeer, func() { symmem.Rendezvous(pooled) }, "i32[2] lost a part")
		pooled.Free() // not collective
		if t.rank == 0 {
			want = append([]string{"group 0,1"}, want...)
		}
		t.equal("lost", t.kept["lost"], want)
		t.equal("own data", x.Ints(), slices.Repeat([]int{10 + t.rank}, 4))
		t.equal("local", t.kept["local"].(*symmem.Tensor).Ints(), slices.Repeat([]int{t.rank}, 3))
		for _, f := range []func(){
			func() { h.Barrier(0) },
			func() { h.GetRemoteTensor(1) },
			func() { h.PutSignal(0, 0) },
			func() { symmem.Rendezvous(x) },
			func() { symmem.OneShotAllReduce(x, "sum") },
		} {
			t.refused(symmem.KindPeer, f, "i32[4] lost a part: rank 1 was replaced", "Empty")
		}
		if t.rank == 0 {
			t.refused(symmem.KindPeer, func() { t.kept["pair"].(*symmem.Group).Empty(symmem.U8, 1) },
				"group 0,1 cannot be used: rank 1 was replaced")
		}
		t.refused(symmem.KindPeer, func() { t.kept["sum"].(*symmem.Graph).Replay() }, "i32[4] lost a part")
		t.refused(symmem.KindPeer, func() { t.kept["barrier"].(*symmem.Graph).Replay() }, "world was built again since the graph was captured")
		// A group without the dead rank goes on.
		rest, y := t.kept["rest"].(*symmem.Group), t.kept["kept"].(*symmem.Tensor)
		sum := t.size*(t.size-1)/2 - 1
		t.equal("the group of the others", symmem.OneShotAllReduce(y, "sum", rest).Ints(), []int{sum, sum})
		symmem.Rendezvous(y, rest).Barrier(0)
		y.Free()
		rest.Free()
		x.Free() // not collective: its peers are gone
	}
	t.equal("the emptied pool", symmem.MemPoolStats(), symmem.PoolStats{})
	symmem.UseMemPool(func() {
		p := symmem.Local(symmem.I32, 2).Fill(1)
		symmem.Rendezvous(p)
		t.equal("a new pool", symmem.OneShotAllReduce(p, "sum").Ints(), []int{t.size, t.size})
		p.Free()
	})
	z := symmem.Empty(symmem.I32, 4).Fill(t.rank)
	h := symmem.Rendezvous(z)
	for range 3 {
		h.Barrier(0)
		t.equal("sum", symmem.OneShotAllReduce(z, "sum").Ints(), slices.Repeat([]int{t.size * (t.size - 1) / 2}, 4))
	}
	g := symmem.NewGroup(0, 1)
	if g.Rank() >= 0 {
		symmem.Rendezvous(z, g)
		t.equal("a new group", symmem.OneShotAllReduce(z, "max", g).Ints(), []int{1, 1, 1, 1})
		g.Free()
	}
	z.Free()
}
