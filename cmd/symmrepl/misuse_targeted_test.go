package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/pace"
	"github.com/symmrepl/symmrepl/session"
)

// If a cell that runs on some ranks makes a collective call that needs other ranks, the call is
// refused before anything is launched. The error names the operation and the ranks, and says what
// to do. A call that needs no other ranks runs.
func TestTargetedCells(t *testing.T) {
	t.Parallel()
	const preparation = `t := symm.Empty(symm.F32, 12).Fill(symm.Rank()+1); h := symm.Rendezvous(t)
out := symm.Empty(symm.F32, 36); symm.Rendezvous(out)
g := symm.Capture(func() { h.Barrier(1) })
two := symm.NewGroup(0, 2)
u := symm.Empty(symm.F32, 4).Fill(symm.Rank()+1); if symm.Rank() != 1 { symm.Rendezvous(u, two) }
if symm.Rank() == 1 { h.PutSignal(0, 5) }`
	const others = "must make this call too, and the cell does not run there"
	refused := []struct {
		ranks     []int
		cell      string
		op, where string // parts of the message
		hint      string
	}{
		{[]int{0}, `symm.AllReduce(t, "sum")`, "all_reduce", "rank 1,2", "run the cell on all members of world"},
		{[]int{0}, `symm.OneShotAllReduce(t, "sum")`, "one_shot_all_reduce", "rank 1,2", "run the cell on all members of world"},
		{[]int{0}, `symm.TwoShotAllReduce(t, "sum")`, "two_shot_all_reduce", "rank 1,2", "run the cell on all members of world"},
		{[]int{1}, `h.Barrier(0)`, "barrier", "rank 0,2", "run the cell on all members of world"},
		{[]int{1}, `g.Replay()`, "barrier", "rank 0,2", "run the cell on all members of world"},
		{[]int{0, 2}, `symm.AllGather(t)`, "all_gather", "rank 1",
			"run the cell on all members of world, or give the call a group of those it runs on: symm.NewGroup(0,2)"},
		{[]int{0, 2}, `symm.ReduceScatter(t, "sum")`, "reduce_scatter", "rank 1",
			"run the cell on all members of world, or give the call a group of those it runs on: symm.NewGroup(0,2)"},
		{[]int{0, 2}, `symm.AllToAll(t)`, "all_to_all", "rank 1",
			"run the cell on all members of world, or give the call a group of those it runs on: symm.NewGroup(0,2)"},
		{[]int{0, 2}, `symm.Broadcast(t, 0)`, "broadcast", "rank 1",
			"run the cell on all members of world, or give the call a group of those it runs on: symm.NewGroup(0,2)"},
		{[]int{0}, `symm.AllReduce(u, "sum", two)`, "all_reduce", "rank 2", "run the cell on all members of group 0,2"},
		{[]int{0}, `symm.Empty(symm.F32, 4)`, "Empty", "rank 1,2", "run the cell on all members of world"},
		{[]int{0, 1}, `symm.NewGroup(0, 1, 2)`, "NewGroup", "rank 2",
			"run the cell on all members of group 0,1,2, or give the call a group of those it runs on: symm.NewGroup(0,1)"},
	}
	s := launchHere(t, 3)
	eval := func(ranks []int, source string) (string, []*session.Error) {
		t.Helper()
		var said strings.Builder
		began := time.Now()
		reply := evalPatiently(t, s, session.Cell{Source: source, Ranks: ranks,
			Output: func(o session.Output) { said.WriteString(o.Text) }})
		if took := time.Since(began); took > pace.Unhurried(3*time.Second) {
			t.Errorf("%s took %v", source, took)
		}
		for _, v := range reply.Values {
			fmt.Fprintf(&said, "[%s] %s\n", session.FormatRanks(v.Ranks), v.Text)
		}
		return said.String(), reply.Errors
	}
	for _, cell := range strings.Split(preparation, "\n") {
		if _, errs := eval(nil, cell); len(errs) > 0 {
			t.Fatal(cell, errs)
		}
	}
	// Waiting for an earlier signal is no collective call: the wait ends.
	if _, errs := eval([]int{0}, "h.WaitSignal(1, 5)"); len(errs) > 0 {
		t.Error("the wait for an earlier signal:", errs)
	}
	for _, test := range refused {
		_, errs := eval(test.ranks, test.cell)
		want := fmt.Sprintf("%s: %s %s", test.op, test.where, others)
		if len(errs) != 1 || errs[0].Msg != want || errs[0].Hint != test.hint || errs[0].Kind != session.KindMisuse ||
			session.FormatRanks(errs[0].Ranks) != session.FormatRanks(test.ranks) {
			t.Errorf("%s on %v: %+v, want %q", test.cell, test.ranks, errs, want)
		}
	}
	for _, test := range []struct {
		ranks        []int
		source, want string
	}{
		{[]int{0, 2}, `symm.AllReduce(u, "sum", two).Float32s()[0]`, "[0,2] 4\n"},
		{[]int{0}, "t.Float32s()[11]", "[0] 1\n"},
		{nil, `symm.AllReduce(t, "sum").Float32s()[11]`, "[0-2] 6\n"},
	} {
		if said, errs := eval(test.ranks, test.source); len(errs) > 0 || said != test.want {
			t.Errorf("%s: %q %v, want %q", test.source, said, errs, test.want)
		}
	}
}
