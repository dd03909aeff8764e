package symmemtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// groupsCase uses the world and a part of it on the same tensor, in both orders.
func groupsCase(t *T) {
	g := symmem.NewGroup(2, 0) // any order makes the same group
	t.equal("members", g.Ranks(), []int{0, 2})
	t.equal("size", g.Size(), 2)
	t.equal("rank", g.Rank(), slices.Index([]int{0, 2}, t.rank))
	x := symmem.Empty(symmem.I32, 4).Fill(10 + t.rank)
	if g.Rank() >= 0 {
		h := symmem.Rendezvous(x, g)
		t.equal("handle", []int{h.Rank(), h.WorldSize(), len(h.BufferPtrs())}, []int{g.Rank(), 2, 2})
		t.equal("channels", g.Channels(), 9216/4/2)
		h.Barrier(1000) // more channels than the world has with more ranks
		t.equal("the other member", h.GetRemoteTensor(1-h.Rank()).Ints(), slices.Repeat([]int{10 + 2 - t.rank}, 4))
		t.equal("sum", symmem.OneShotAllReduce(x, "sum", g).Ints(), slices.Repeat([]int{22}, 4))
		own := g.Empty(symmem.F32, 3).Fill(t.rank)
		symmem.Rendezvous(own, g)
		t.equal("max", symmem.OneShotAllReduce(own, "max").Ints(), []int{2, 2, 2}) // in the tensor's own group
		t.refused(symmem.KindMisuse, func() { symmem.OneShotAllReduce(x, "sum") }, "rendezvoused by group 0,2, not by world")
		own.Free()
	} else {
		for _, f := range []func(){
			func() { symmem.Rendezvous(x, g) },
			func() { g.Empty(symmem.F32, 1) },
			func() { symmem.OneShotAllReduce(x, "sum", g) },
		} {
			t.refused(symmem.KindMisuse, f, "is not in group 0,2")
		}
	}
	// The larger group after the smaller one: the ordinals still agree.
	h := symmem.Rendezvous(x)
	h.Barrier(0)
	for p := range t.size {
		t.equal("in the world", h.GetRemoteTensor(p).Ints(), slices.Repeat([]int{10 + p}, 4))
	}
	h.Barrier(0)
	symmem.Synchronize()
	g.Free()
	x.Free()
}

// overlappingGroupsCase: groups that share ranks do not consume each other's signals or packets.
func overlappingGroupsCase(t *T) {
	a, b := symmem.NewGroup(0, 1), symmem.NewGroup(1, 2)
	again := symmem.NewGroup(0, 1) // the same members, but its own signals
	x := symmem.Empty(symmem.I32, 2).Fill(1 << t.rank)
	symmem.Rendezvous(x)
	for _, g := range []*symmem.Group{b, a, again} {
		if g.Rank() >= 0 {
			symmem.Rendezvous(x, g)
		}
	}
	sum := func(g *symmem.Group) int { return symmem.OneShotAllReduce(x, "sum", g).Ints()[0] }
	for range 5 {
		switch t.rank {
		case 0:
			t.equal("a", sum(a), 3)
			t.equal("again", sum(again), 3)
		case 1:
			t.equal("a", sum(a), 3)
			t.equal("b", sum(b), 6)
			t.equal("again", sum(again), 3)
		case 2:
			t.equal("b", sum(b), 6)
		}
		t.equal("world", sum(symmem.World()), 1<<t.size-1)
	}
	if a.Rank() >= 0 {
		h, k := symmem.Rendezvous(x, a), symmem.Rendezvous(x, again)
		if a.Rank() == 0 {
			h.PutSignal(1, 0)
			k.PutSignal(1, 0)
		} else {
			k.WaitSignal(0, 0, symmem.Timeout(20*time.Second))
			symmem.Synchronize()
			k.WaitSignal(0, 0, symmem.Timeout(50*time.Millisecond)) // the other group's signal does not count
			t.refused(symmem.KindTimeout, symmem.Synchronize, "wait_signal")
			h.WaitSignal(0, 0, symmem.Timeout(20*time.Second))
		}
		symmem.Synchronize()
	}
	t.meet()
	for _, g := range []*symmem.Group{a, b, again} {
		g.Free()
	}
	x.Free()
}

func groupMisuseCase(t *T) {
	misuse := symmem.KindMisuse
	t.refused(misuse, func() { symmem.NewGroup() }, "at least one rank")
	t.refused(misuse, func() { symmem.NewGroup(0, t.size) }, "ranks must be in [0, ")
	t.refused(misuse, func() { symmem.NewGroup(0, 0) }, "named twice")
	t.refused(misuse, func() { symmem.World().Free() }, "world cannot be freed")
	if t.rank == 0 {
		g := symmem.NewGroup(0)
		x := g.Empty(symmem.F32, 4).Fill(3)
		h := symmem.Rendezvous(x)
		h.Barrier(0)
		t.equal("alone", symmem.OneShotAllReduce(x, "avg", g).Ints(), []int{3, 3, 3, 3})
		t.refused(misuse, func() { g.Free() }, "still allocated")
		t.refused(misuse, func() { h.Barrier(0, symmem.World()) }, "belongs to group 0, not world")
		x.Free()
		g.Free()
		t.refused(symmem.KindPeer, func() { g.Empty(symmem.F32, 4) }, "it was freed")
		if t.size > 1 {
			own := symmem.NewGroup(0).Empty(symmem.F32, 4)
			t.refused(misuse, func() { symmem.Rendezvous(own, symmem.World()) }, "rank 1 of world has no part")
			own.Free()
		}
	}
	t.meet()
}

// namedGroupsCase finds groups by their names, on ranks that are no members too.
func namedGroupsCase(t *T) {
	last := t.size - 1
	tp, dp := symmem.NewNamedGroup("tp", slices.Compact([]int{0, last})...), symmem.NewNamedGroup("pp-0.dp", last)
	t.equal("names", []any{tp.Name(), tp.String(), symmem.World().Name(), symmem.NewGroup(t.rank).Name()},
		[]any{"tp", "group tp (" + map[bool]string{true: "0", false: fmt.Sprint("0,", last)}[last == 0] + ")", "world", ""})
	t.equal("found", []*symmem.Group{symmem.GroupNamed("tp"), symmem.GroupNamed("pp-0.dp"), symmem.GroupNamed("world")},
		[]*symmem.Group{tp, dp, symmem.World()})
	x := symmem.Empty(symmem.I32, 4).Fill(10 + t.rank)
	if tp.Rank() >= 0 {
		symmem.Rendezvous(x, symmem.GroupNamed("tp"))
		t.equal("sum", symmem.OneShotAllReduce(x, "sum", symmem.GroupNamed("tp")).Ints(),
			slices.Repeat([]int{map[bool]int{true: 10, false: 20 + last}[last == 0]}, 4))
	} else {
		t.refused(symmem.KindMisuse, func() { symmem.Rendezvous(x, symmem.GroupNamed("tp")) }, "is not in group tp (0,")
	}
	for _, name := range []string{"", "two words", "\x00", "world", "tp"} {
		t.refused(symmem.KindMisuse, func() { symmem.NewNamedGroup(name, t.rank) }, "NewNamedGroup", "name")
	}
	t.refused(symmem.KindMisuse, func() { symmem.GroupNamed("dp") }, `no group has the name "dp"; there are world, pp-0.dp, tp`, "NewNamedGroup")
	symmem.Synchronize()
	t.meet()
	x.Free()
	tp.Free()
	dp.Free()
	t.refused(symmem.KindMisuse, func() { symmem.GroupNamed("tp") }, "there are world")
	again := symmem.NewNamedGroup("tp", t.rank)
	t.equal("the name again", symmem.GroupNamed("tp") == again, true)
	again.Free()
	if t.size > 1 {
		names := []string{"a", "b"}
		t.refused(symmem.KindMismatch, func() { symmem.NewNamedGroup(names[min(t.rank, 1)], symmem.World().Ranks()...) }, `"a"`, `"b"`)
	}
}
