package symmemtest

import (
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/symmem"
)

// whyCase: the calls of the latest cells are remembered with the ways that Explain reports, and no
// more than that.
func whyCase(t *T) {
	defer t.rt.BeginCell(0)
	inbox, x, values := symmem.Empty(symmem.F32, 64), symmem.Empty(symmem.F32, 64), symmem.Local(symmem.F32, 64)
	h := symmem.Rendezvous(inbox)
	symmem.Rendezvous(x)
	t.rt.BeginCell(0)
	h.Barrier(0)

	t.rt.BeginCell(1001)
	said := symmem.Explain(func() { symmem.AllReduce(x, "max"); h.Put((t.rank+1)%t.size, values) })
	symmem.AllGather(symmem.Local(symmem.F32, 8))
	add := symmem.Compile(`__global__ void add(float* x) { x[threadIdx.x] += 1; }`)
	add.Launch(symmem.Grid(1), symmem.Block(4), x)
	t.rt.BeginCell(0)
	calls, more := t.rt.Why(1001)
	var heads []string
	for _, c := range calls {
		head, _, _ := strings.Cut(c.Call, " ")
		heads = append(heads, head)
	}
	t.equal("the calls of a cell", heads, []string{"all_reduce", "put", "all_gather", "add"})
	t.equal("calls that are left out", more, 0)
	way := func(i int) string { return strings.TrimPrefix(calls[i].Details[0], "way: ") }
	for i, line := range strings.Split(said, "\n") {
		_, want, _ := strings.Cut(line, "): ")
		if got, _, _ := strings.Cut(way(i), " ("); got != want && !strings.HasPrefix(way(i), want) {
			t.Errorf("the way of call %d is %q, and Explain says %q", i, way(i), want)
		}
	}
	has := func(i int, want string) bool {
		return slices.ContainsFunc(calls[i].Details, func(d string) bool { return strings.HasPrefix(d, want) })
	}
	if t.size > 1 && !has(2, "way: packets") && !has(2, "way: hierarchical") {
		t.Errorf("the all-gather is explained by %q", calls[2].Details)
	}
	if !has(0, "kernels: ") || has(0, "kernels: none") || !has(2, "operands: ") && !has(2, "way: ") ||
		!has(2, "result: ordinary memory") || !has(3, "kernels: add") || !has(3, "back end: ") {
		t.Errorf("the calls are explained by %q", calls)
	}
	if latest, _ := t.rt.Why(0); len(latest) != 4 {
		t.Errorf("the latest cell with calls has %d", len(latest))
	}

	graph := symmem.Capture(func() {
		for range 5 {
			add.Launch(symmem.Grid(1), symmem.Block(4), x)
		}
	})
	t.rt.BeginCell(1002)
	graph.Replay()
	into := symmem.Local(symmem.F32, 2)
	h.Get(t.rank, into)
	into.Float32s()
	replayed, _ := t.rt.Why(1002)
	var details []string
	for _, c := range replayed {
		details = append(details, c.Details...)
	}
	for _, want := range []string{"kernels: the kernels of the graph, which has the calls add, add, add, add and 1 more",
		"fetches: 8 bytes over ", "kernels: none: "} {
		if !slices.ContainsFunc(details, func(d string) bool { return strings.HasPrefix(d, want) }) {
			t.Errorf("a replay, a get and a read are explained by %q, without %q", details, want)
		}
	}
	graph.Free()

	t.rt.BeginCell(1002)
	for range 130 {
		symmem.Local(symmem.U8, 1).Fill(1)
		h.SignalAdd(t.rank, 0, 1)
	}
	if calls, more = t.rt.Why(1002); len(calls) != 128 || more < 2 {
		t.Errorf("of a cell with many calls %d are remembered, and %d more", len(calls), more)
	}
	for cell := 1003; cell < 1010; cell++ {
		t.rt.BeginCell(cell)
		h.SignalAdd(t.rank, 0, 1)
	}
	old, _ := t.rt.Why(1001)
	kept, _ := t.rt.Why(1003)
	t.equal("calls of an old cell and of a later one", []int{len(old), len(kept)}, []int{0, 1})
	t.rt.BeginCell(0)
	h.ResetSignal(0)
	h.Barrier(0)
	symmem.Synchronize()
	x.Free()
	inbox.Free()
}
