package command

import (
	"context"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

func TestDiff(t *testing.T) {
	c, fake, out := newConsole()
	fake.OnEval = func(cell session.Cell) session.Reply {
		switch {
		case !cell.Silent:
			t.Errorf("the cell %q is recorded", cell.Source)
		case strings.Contains(cell.Source, "\ty := (y)\n"):
			return session.Reply{Values: []session.Value{{Ranks: []int{0, 1, 2, 3}, Text: `"the tensors have different shapes: [4 4] and [4]"`}}}
		case strings.Contains(cell.Source, "x := (n)"):
			return session.Reply{Errors: []*session.Error{{Kind: session.KindType, Ranks: []int{0, 1, 2, 3}, Cell: 9,
				File: "diff", Line: 3, Msg: "x.DType undefined (type int has no field or method DType)", Detail: "more"}}}
		}
		return session.Reply{Values: []session.Value{{Ranks: []int{0, 1, 3}, Text: `"f32 16 0 [4 4]\n"`},
			{Ranks: []int{2}, Text: `"f32 16 2 0.5 5 2.5 2 [4 4]\n"`}}}
	}
	for _, entry := range []string{":diff x", ":diff x y", ":diff n", ":diff", ":on 0,2", ":diff x"} {
		c.Run(context.Background(), entry)
	}
	want := `ranks  tensor     differ   largest  first at  x    rank 0
0,1,3  f32[4, 4]  none
2      f32[4, 4]  2 of 16  0.5      [1, 1]    2.5  2
[0-3] the tensors have different shapes: [4 4] and [4]
[0-3]     hint: View gives a tensor other dimensions
[0-3] n is no tensor: it has type int
[0-3]     hint: give an expression of type *symm.Tensor
:diff needs X [Y]; :help diff says more
:diff: only ranks 0,2 take part, and x of all ranks is compared with rank 0's: ` + "`:on all` before\n"
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", out, want)
	}
}
