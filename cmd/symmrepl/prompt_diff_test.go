package main

import (
	"strings"
	"testing"
)

// TestDiffCommand compares tensors between ranks and with each other, by the devices: values, NaN,
// infinities, integers, no elements, and what is refused.
func TestDiffCommand(t *testing.T) {
	t.Parallel()
	h := newHome(t, 3)
	r := h.run(`x := symm.Empty(symm.F32, 4, 4).Fill(2)
if symm.Rank() == 2 { x.View(-1).Slice(5, 7).CopyFrom([]float64{2.5, -1}) }
y := symm.Local(symm.F32, 4, 4).Fill(2)
:diff x
:diff x y
odd := symm.Local(symm.F32, 3).CopyFrom([]float64{math.NaN(), math.Inf(1), float64(symm.Rank() / 2)})
:diff odd
ints := symm.Local(symm.I64, 2).Fill(symm.Rank()); none := symm.Local(symm.I32, 0)
:diff ints, symm.Local(symm.I64, 2)
:diff none
:diff x x.Slice(0, 2)
:diff symm.Local(symm.F32, 1+symm.Rank())
`, "-n", "3", "--device", device())
	wantOut := `ranks  tensor     differ   largest  first at  x    rank 0
0,1    f32[4, 4]  none
2      f32[4, 4]  2 of 16  3        [1, 1]    2.5  2
ranks  tensor     differ   largest  first at  x    y
0,1    f32[4, 4]  none
2      f32[4, 4]  2 of 16  3        [1, 1]    2.5  2
ranks  tensor  differ  largest  first at  odd  rank 0
0,1    f32[3]  none
2      f32[3]  1 of 3  1        [2]       1    0
ranks  tensor  differ  largest  first at  ints  symm.Local(symm.I64, 2)
0      i64[2]  none
1      i64[2]  2 of 2  1        [0]       1     0
2      i64[2]  2 of 2  2        [0]       2     0
ranks  tensor  differ  largest  first at  none  rank 0
0-2    i32[0]  none
`
	if got := strings.ReplaceAll(r.out, "symm> ", ""); got != wantOut {
		t.Errorf("printed\n%swant\n%s", got, wantOut)
	}
	for _, want := range []string{
		"[0-2] the tensors have different shapes: [4 4] and [2 4]\n", "[0-2]     hint: View gives a tensor other dimensions\n",
		"the tensors of the ranks have different types or shapes: ", "hint: `:vars` shows them",
	} {
		if !strings.Contains(r.err, want) {
			t.Errorf("the errors are\n%swithout %q", r.err, want)
		}
	}
}
