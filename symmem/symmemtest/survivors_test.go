package symmemtest

import (
	"slices"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// survivorCases belong to TestSurvivors: in the first of them nobody is gone, in the next the last rank goes, and in the others it is gone.
var survivorCases = []testCase{
	{name: "SurvivorsAreAll", run: survivorsAreAllCase},
	{name: "SurvivorsInNeed", run: survivorsInNeedCase},
	{name: "SurvivorsAgain", run: survivorsAgainCase},
	{name: "SurvivorsAfterReplacement", run: survivorsAgainCase},
}

// TestSurvivors kills a rank that nobody replaces while the others wait for it: the ranks that are left go on in a group of theirs, again and again, also when one of
// them is replaced later.
func TestSurvivors(t *testing.T) {
	for _, world := range []struct{ name, hosts, network string }{{"one host", "", "none"}, {"null", "2", "null"}, {"ucx", "2", "ucx"}} {
		t.Run(world.name, func(t *testing.T) {
			if _, err := net.Available(); world.network == "ucx" && err != nil {
				t.Skip(err)
			}
			for _, device := range devices(t) {
				if device == "cuda" && world.hosts == "" {
					needRanks(t, device, 4)
				}
				t.Run(device, func(t *testing.T) { survive(t, startOn(t, device, 4, world.hosts, world.network)) })
			}
		})
	}
}

func survive(t *testing.T, w *ranks) {
	w.run(t, "SurvivorsAreAll")
	w.run(t, "Ring") // in the world, which is whole
	for _, c := range w.children {
		c.control.Encode(order{Run: "SurvivorsInNeed"})
	}
	last := len(w.children) - 1
	dead := w.children[last]
	if (&ranks{hub: w.hub, children: w.children[last:]}).collect(t, caseLimit) {
		t.FailNow()
	}
	time.Sleep(300 * time.Millisecond) // the others wait
	dead.killed = true
	dead.process.Kill()
	<-dead.gone
	w.hub.Lose(last, "its host is silent")
	w.children = w.children[:last]
	if w.collect(t, caseLimit) {
		t.FailNow()
	}
	w.run(t, "SurvivorsAgain")
	w.replace(t, 1)
	w.run(t, "SurvivorsAfterReplacement")
}

// survivorsAreAllCase: while nobody is gone the group has all ranks, and nothing else has changed, unless a wait was given up: then all is as new.
func survivorsAreAllCase(t *T) {
	x := symmem.Empty(symmem.I32, 2).Fill(t.rank)
	h := symmem.Rendezvous(x)
	h.Barrier(0) // all have filled theirs
	h.PutWithSignal((t.rank+1)%t.size, symmem.Local(symmem.I32, 1).Fill(7+t.rank), 1, 5)
	g := symmem.Survivors()
	t.equal("all ranks", g.Ranks(), symmem.World().Ranks())
	h.WaitForSignal(1, "==", 5) // which a Recover would have taken
	t.equal("what was put", x.Ints(), []int{7 + (t.rank+t.size-1)%t.size, t.rank})
	t.together(g)
	g.Free()
	if t.rank == 0 {
		h.Barrier(3, symmem.Timeout(50*time.Millisecond))
		t.refused(symmem.KindTimeout, symmem.Synchronize, "barrier")
		t.refused(symmem.KindPeer, func() { h.Barrier(3) }, "out of step", "Recover")
	}
	g = symmem.Survivors()
	t.together(g)
	h.Barrier(3)
	symmem.Synchronize()
	g.Free()
	x.Free()
}

// together checks that members of a group reduce, meet, signal each other and put to each other.
func (t *T) together(g *symmem.Group) {
	n, sum := g.Size(), 0
	for _, r := range g.Ranks() {
		sum += r + 1
	}
	x := g.Empty(symmem.F32, 1000).Fill(t.rank + 1)
	h := symmem.Rendezvous(x)
	for range 3 {
		h.Barrier(0)
	}
	t.equal("sum", symmem.AllReduce(x, "sum", g).Float32s(), slices.Repeat([]float32{float32(sum)}, 1000))
	h.Barrier(0) // all have read it
	next, previous := (g.Rank()+1)%n, (g.Rank()+n-1)%n
	h.Put(next, symmem.Local(symmem.F32, 2).Fill(100+g.Rank()))
	h.PutSignal(next, 1)
	h.WaitSignal(previous, 1)
	t.equal("what the one before has put", x.Slice(0, 2).Float32s(), slices.Repeat([]float32{float32(100 + previous)}, 2))
	h.Barrier(1)
	h.PutWithSignal(next, symmem.Local(symmem.F32, 1).Fill(g.Rank()), 3, 9)
	h.WaitForSignal(3, "==", 9)
	t.equal("with a signal", x.Slice(0, 1).Float32s(), []float32{float32(previous)})
	h.Barrier(2)
	symmem.Synchronize()
	x.Free()
}

// survivorsInNeedCase: the last rank is killed while the others wait for it, those that need it. What they have in a group of their own stays.
func survivorsInNeedCase(t *T) {
	last := t.size - 1
	x := symmem.Empty(symmem.F32, 1<<16).Fill(1)
	h := symmem.Rendezvous(x)
	rest, all := symmem.NewGroup(symmem.World().Ranks()[:last]...), symmem.NewGroup(symmem.World().Ranks()...)
	t.bereft = true
	if t.rank == last {
		symmem.Synchronize()
		t.ready()
		select {}
	}
	y := rest.Empty(symmem.I32, 2).Fill(t.rank)
	symmem.Rendezvous(y)
	symmem.Synchronize()
	if symmem.World().LSA() == symmem.World() { // the network tells of no rank of the same host: it is to be waited for
		h.Barrier(1, symmem.Timeout(time.Second))
		t.refused(symmem.KindTimeout, symmem.Synchronize, "barrier")
	} else if t.rank < 2 {
		symmem.AllReduce(x, "sum")
		t.refused(symmem.KindPeer, symmem.Synchronize, "all_reduce", "symm.Survivors() makes a group of the ranks that are left")
	}
	g := symmem.Survivors()
	t.equal("those that are left", g.Ranks(), symmem.World().Ranks()[:last])
	t.together(g)
	t.kept["survivors"], t.kept["rest"], t.kept["y"] = g, rest, y

	const instead = "symm.Survivors() makes a group of the ranks that are left"
	t.refused(symmem.KindPeer, func() { symmem.AllReduce(x, "sum") }, "world cannot be used: rank 3 is gone", instead)
	t.refused(symmem.KindPeer, func() { h.Barrier(0) }, "lost a part: rank 3 is gone", instead)
	t.refused(symmem.KindPeer, func() { symmem.Empty(symmem.F32, 1) }, "world cannot be used: rank 3 is gone", instead)
	t.refused(symmem.KindPeer, func() { all.Empty(symmem.F32, 1) }, "group 0,1,2,3 cannot be used: rank 3 is gone", instead)
	t.refused(symmem.KindPeer, symmem.Meet, "rank 3 was lost: its host is silent", instead)
	t.equal("own data", x.Float32s()[0] > 0, true)
	x.Free()
	all.Free()
}

// survivorsAgainCase: what the ranks that are left had in groups of their own goes on after the loss, as far as no member was replaced; waits that are given up later do no harm.
func survivorsAgainCase(t *T) {
	t.bereft = true // the world cannot meet
	old, first := t.kept["survivors"], []int{0, 1, 2}
	if rest, whole := t.kept["rest"].(*symmem.Group); whole && t.kept["again"] == nil {
		t.equal("what was kept", symmem.AllReduce(t.kept["y"].(*symmem.Tensor), "sum", rest).Ints(), []int{3, 3})
		t.kept["y"].(*symmem.Tensor).Free()
		rest.Free()
		t.together(old.(*symmem.Group))
	} else if whole {
		t.refused(symmem.KindPeer, func() { old.(*symmem.Group).Empty(symmem.F32, 1) }, "group 0,1,2 cannot be used: rank 1 was replaced", "symm.Survivors()")
	}
	t.kept["again"] = true
	g := symmem.Survivors()
	t.equal("those that are left", g.Ranks(), first)
	t.together(g)
	pair := symmem.NewGroup(0, 2)
	if pair.Rank() >= 0 {
		t.together(pair)
		pair.Free()
	}
	x := g.Empty(symmem.I32, 1)
	h := symmem.Rendezvous(x)
	if t.rank == 0 {
		h.Barrier(3, symmem.Timeout(50*time.Millisecond))
		t.refused(symmem.KindTimeout, symmem.Synchronize, "barrier")
	}
	again := symmem.Survivors()
	t.together(again)
	h.Barrier(3)
	t.together(g)
	x.Free()
	again.Free()
	g.Free()
}
