package symmemtest

import (
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/symmem"
)

// compareCase: Compare runs a call by each of its ways from the same inputs, and finds a code that is
// wrong on one rank.
func compareCase(t *T) {
	names := func(c symmem.Comparison) (list []string) {
		for _, w := range c.Ways {
			list = append(list, w.Name)
			if w.Refused != "" && w.Name != "NCCL" {
				t.Errorf("%s cannot: %s", w.Name, w.Refused)
			}
			if w.Refused == "" && w.Took <= 0 {
				t.Errorf("%s took %v", w.Name, w.Took)
			}
		}
		return list
	}
	x := symmem.Empty(symmem.I32, 1<<10)
	h := symmem.Rendezvous(x)
	x.Fill(t.rank + 1)
	sum := t.size * (t.size + 1) / 2
	inPlace := symmem.Compare(func() { symmem.AllReduce(x, "sum") })
	t.equal("values after a comparison", []int{x.Ints()[0], x.Ints()[1<<10-1]}, []int{sum, sum})
	t.equal("all are equal", inPlace.Same(), true)
	if got := names(inPlace); !strings.HasPrefix(got[0], "as chosen, ") || !slices.Contains(got, "two shots by packets") &&
		!slices.Contains(got, "hierarchical") {
		t.Errorf("the ways of an all-reduce are %q", got)
	}
	if slices.Contains(names(inPlace), "one shot between barriers") {
		t.Errorf("a way that reads what others write is among them")
	}

	x.Fill(t.rank + 1)
	in := symmem.Local(symmem.F32, 8)
	in.Fill(1)
	made := symmem.Compare(func() { symmem.AllGather(in) }, func() { symmem.AllGather(in) }, func() {
		in.Fill(1)
		if t.rank == 0 {
			in.Slice(3, 5).Fill(2)
		}
		symmem.AllGather(in)
	})
	last := made.Ways[len(made.Ways)-1]
	t.equal("the same code is equal", made.Ways[len(made.Ways)-2].Differs == nil, true)
	if d := last.Differs; d == nil || d.Rank != 0 || d.Element != 3 || d.Got != "2" || d.Want != "1" || d.ULPs != 1<<23 || d.Count != 2*(t.size+1) {
		t.Errorf("the wrong code differs by %v", d)
	}
	if made.Same() || !strings.Contains(made.String(), "code 3") {
		t.Errorf("printed\n%s", made)
	}
	t.equal("the input afterwards", in.Float32s()[3], float32(1))

	// Each way begins with the same values, also those that it changes itself.
	x.Fill(0)
	counted := 0
	twice := symmem.Compare(func() { counted++; x.Add(1, symmem.Into(x)) })
	t.equal("a call that has one way", []any{len(twice.Ways), counted, x.Ints()[7]}, []any{1, 6, 1})
	t.refused(symmem.KindMisuse, func() { symmem.Compare(func() { symmem.AllReduce(x, "product") }) }, "product")
	h.Barrier(0)
	symmem.Synchronize()
	x.Free()
}
