package opbench

import (
	"math"
	"strings"
	"testing"
)

// Bandwidths are those of nccl-tests, the limit counts what is sent, and the ratio is to the best peer however it was called.
func TestRow(t *testing.T) {
	figures := []Figure{
		{Op: "empty", Graph: 1}, {Op: "bounce", Bytes: 4, Graph: 2}, {Op: "copy", Bytes: 1000, Eager: 0.03},
		{Op: "all_reduce", Bytes: 1e6, Graph: 25, Eager: 30},
		{Op: "all_reduce", By: "PyTorch", Bytes: 1e6, Graph: 60, Eager: 70},
		{Op: "all_reduce", By: "PyTorch", Bytes: 1e6, Graph: 50, Eager: 80},
		{Op: "all_reduce", By: "NCCL", Bytes: 1e6, Eager: 55},
	}
	x := ops[2]
	b := boundsOf(figures, 4, 1000)
	if x.name != "all_reduce" || math.Abs(b.link-100) > 1e-9 {
		t.Fatal(x.name, b)
	}
	r, ok := rowOf(&x, 1e6, 4, b, figures)
	if got, want := strings.Join(r.cells(map[string]bool{"NCCL": true, "PyTorch": true}), " "), "1000000 17.00 25.00 30.00 40.00 60.00 0.60 50.00 80.00 - 55.00 0.50"; !ok || got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if _, ok := rowOf(&x, 2e6, 4, b, figures); ok {
		t.Error("a row that was not measured")
	}
}
