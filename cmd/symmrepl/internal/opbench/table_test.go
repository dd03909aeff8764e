package opbench

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// Bandwidths are defined as in nccl-tests. The limit counts the bytes sent. The ratio compares with
// the fastest peer, whether it ran in a graph or eagerly.
func TestRow(t *testing.T) {
	figures := []Figure{
		{Op: "empty", Graph: 1}, {Op: "bounce", Bytes: 4, Graph: 2}, {Op: "copy", Bytes: 1000, Eager: 0.05},
		{Op: "store", Bytes: 1000, Eager: 0.03},
		{Op: "all_reduce", Bytes: 1e6, Graph: 25, Eager: 30},
		{Op: "all_reduce", By: "PyTorch", Bytes: 1e6, Graph: 60, Eager: 70},
		{Op: "all_reduce", By: "PyTorch", Bytes: 1e6, Graph: 50, Eager: 80},
		{Op: "all_reduce", By: "NCCL", Bytes: 1e6, Eager: 55},
		{Op: "all_reduce", By: "device API", Bytes: 1e6, Graph: 26},
	}
	x := ops[2]
	b := boundsOf(figures, 4, extent{copied: 1000})
	if x.name != "all_reduce" || math.Abs(b.copies-60) > 1e-9 || math.Abs(b.link()-100) > 1e-9 {
		t.Fatal(x.name, b)
	}
	r, ok := rowOf(&x, 1e6, 4, world{}, b, figures)
	var out strings.Builder
	(&run{out: &out}).print(&table{op: &x, rows: []row{r}})
	const want = `
all_reduce
    bytes  limit  graph  eager    alg    bus  of link  device API graph  PyTorch graph  PyTorch eager  NCCL eager  ratio
  1000000  17.00  25.00  30.00  40.00  60.00     0.60             26.00          50.00          80.00       55.00   0.50
`
	if !ok || out.String() != want {
		t.Errorf("%s, want\n%s", out.String(), want)
	}
	if _, ok := rowOf(&x, 2e6, 4, world{}, b, figures); ok {
		t.Error("rowOf returns a row without figures")
	}
}

// Over hosts the limit of each way counts the bytes that it sends to other hosts. The limit of the
// operation is the lower of them.
func TestRowOverHosts(t *testing.T) {
	figures := []Figure{
		{Op: "empty", Graph: 1}, {Op: "bounce", Bytes: 4, Graph: 18}, {Op: "puts", Bytes: 1000, Eager: 0.5},
		{Op: "all_reduce", Bytes: 1e6, Graph: 500, Eager: 600},
		{Op: "all_reduce", Bytes: 1e6, Graph: 2020, Eager: 2000, overlapped: overlapped{Way: "flat"}},
		{Op: "all_reduce", Bytes: 1e6, Graph: 510, Eager: 600, overlapped: overlapped{Way: "hierarchical"}},
	}
	w := world{Parts: [][]int{{0, 1}, {2, 3}}, Between: "the null network"}
	b := boundsOf(figures, 4, extent{put: 1000})
	if math.Abs(b.puts-2) > 1e-9 {
		t.Fatal(b)
	}
	x := ops[2]
	r, ok := rowOf(&x, 1e6, 4, w, b, figures)
	var out strings.Builder
	(&run{out: &out}).print(&table{op: &x, rows: []row{r}})
	const want = `
all_reduce
    bytes   limit   graph   eager   alg   bus  of network  flat limit  flat graph  flat eager  hierarchical limit  hierarchical graph  hierarchical eager
  1000000  260.00  500.00  600.00  2.00  3.00        0.50     1010.00     2020.00     2000.00              260.00              510.00              600.00
`
	if !ok || out.String() != want {
		t.Errorf("%s, want\n%s", out.String(), want)
	}
	for _, c := range []struct {
		op    string
		parts [][]int
		want  []string
	}{
		{"all_reduce", w.Parts, ways}, {"all_reduce", [][]int{{0}, {1, 2}}, ways[:1]}, {"all_reduce", [][]int{{0, 1}}, nil},
		{"all_to_all_vdev", w.Parts, ways[:1]}, {"put", w.Parts, nil},
	} {
		x := ops[slices.Index(Names(), c.op)]
		if got := x.waysIn(world{Parts: c.parts}); !slices.Equal(got, c.want) {
			t.Errorf("%s among %v is measured by %v, want %v", c.op, c.parts, got, c.want)
		}
	}
}
