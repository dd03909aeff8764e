package controller

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// A finding that several ranks have made keeps the ranks of each access, and the memory of each.
// Findings that were returned before do not change.
func TestFindingsKeepRanks(t *testing.T) {
	race := func(rank, reader, writer int, reversed bool) session.Finding {
		f := session.Finding{Kind: "race between ranks", Ranks: []int{rank}, Memory: fmt.Sprintf("f32[8] of rank %d", writer),
			Accesses: []session.Access{{Rank: reader, Op: "reads", At: "cell:3"}, {Rank: writer, Op: "writes", At: "cell:7"}}}
		if reversed {
			slices.Reverse(f.Accesses)
		}
		return f
	}
	var first, all session.Findings
	first.Add(race(0, 0, 1, false))
	before := first.List()[0]
	first.Add(race(1, 1, 2, true))
	for _, f := range []session.Finding{race(2, 2, 3, true), first.List()[0], race(2, 2, 3, false)} {
		all.Add(f)
	}
	got := all.List()[0]
	if by := [][]int{got.Ranks, got.Accesses[0].By(), got.Accesses[1].By()}; !reflect.DeepEqual(by, [][]int{{0, 1, 2}, {1, 2, 3}, {0, 1, 2}}) {
		t.Errorf("the ranks %v", by)
	}
	if want := []string{"f32[8] of rank 1", "f32[8] of rank 2"}; got.Memory != "f32[8] of rank 3" || !slices.Equal(got.Also, want) {
		t.Errorf("the memory %q, and also %q", got.Memory, got.Also)
	}
	if before.Accesses[0].Ranks != nil || before.Also != nil || len(all.List()) != 1 {
		t.Errorf("the first finding became %+v", before)
	}
}

// A finding is reported once, whichever ranks have found it and in whichever order its accesses
// came.
func TestFindingsAreFolded(t *testing.T) {
	c := launch(t, 3)
	reply := c.Eval(context.Background(), session.Cell{Source: `find race between ranks: 3 7 "a"
1:find race between ranks: 7 3 "a"
2:find race in a block: 3 7 "a"
0:find order too weak: 5 5 "x = 1; // symm:allow order: one writer"
0:find order too weak: 6 6 "x = 1; // symm:allow race"`})
	var got []string
	for _, f := range reply.Findings {
		got = append(got, fmt.Sprintf("%s %v at %s, seed %d, cell %d, allowed %q", f.Kind, f.Ranks, f.Accesses[0].Place(), f.Seed,
			f.Cell, f.Allowed))
	}
	want := []string{
		`race between ranks [0 1 2] at cell:3, seed 0, cell 1, allowed ""`,
		`order too weak [0] at cell:5, seed 0, cell 1, allowed "cell:5: one writer"`,
		`order too weak [0] at cell:6, seed 0, cell 1, allowed ""`,
		`race in a block [2] at cell:3, seed 2, cell 1, allowed ""`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if reply := c.Eval(context.Background(), session.Cell{Source: "nothing"}); len(reply.Findings) > 0 {
		t.Errorf("the next cell has %v", reply.Findings)
	}
}
