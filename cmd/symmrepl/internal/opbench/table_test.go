package opbench

import (
	"math"
	"strings"
	"testing"
)

// Bandwidths are those of nccl-tests, the limit counts what is sent, and the ratio is to the best peer however it was called.
func TestRow(t *testing.T) {
	figures := []Figure{
		{Op: "empty", Graph: 1}, {Op: "bounce", Bytes: 4, Graph: 2}, {Op: "copy", Bytes: 1000, Eager: 0.05}, {Op: "store", Bytes: 1000, Eager: 0.03},
		{Op: "all_reduce", Bytes: 1e6, Graph: 25, Eager: 30},
		{Op: "all_reduce", By: "PyTorch", Bytes: 1e6, Graph: 60, Eager: 70},
		{Op: "all_reduce", By: "PyTorch", Bytes: 1e6, Graph: 50, Eager: 80},
		{Op: "all_reduce", By: "NCCL", Bytes: 1e6, Eager: 55},
	}
	x := ops[2]
	b := boundsOf(figures, 4, 1000)
	if x.name != "all_reduce" || math.Abs(b.copies-60) > 1e-9 || math.Abs(b.link()-100) > 1e-9 {
		t.Fatal(x.name, b)
	}
	r, ok := rowOf(&x, 1e6, 4, b, figures)
	var out strings.Builder
	(&run{out: &out}).columns(&table{op: &x, rows: []row{r}})
	const want = `    bytes  limit  graph  eager    alg    bus  of link  PyTorch graph  PyTorch eager  NCCL eager  ratio
  1000000  17.00  25.00  30.00  40.00  60.00     0.60          50.00          80.00       55.00   0.50
`
	if !ok || out.String() != want {
		t.Errorf("%s, want\n%s", out.String(), want)
	}
	if _, ok := rowOf(&x, 2e6, 4, b, figures); ok {
		t.Error("a row that was not measured")
	}
}
