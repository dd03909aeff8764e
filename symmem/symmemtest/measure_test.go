package symmemtest

import (
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// measureCase: measurements have the times of all ranks, the same on all ranks, and a delay on the
// device is in them.
func measureCase(t *T) {
	const late = 30 * time.Millisecond // longer than another rank may take on a busy machine
	inbox, x := symmem.Empty(symmem.I32, 64), symmem.Local(symmem.I32, 64)
	h := symmem.Rendezvous(inbox)
	calls := 0
	put := func() { calls++; h.Put((t.rank+1)%t.size, x) }
	within := func(what string, r symmem.Runs, runs int) {
		for _, times := range [][][]time.Duration{r.Took, r.Device} {
			t.equal("the ranks of "+what, len(times), t.size)
			for _, list := range times {
				t.equal("the runs of "+what, len(list), runs)
			}
		}
		for rank, list := range r.Took {
			for i, took := range list {
				if took <= 0 || r.Device[rank][i] <= 0 || r.Host != nil && (r.Device[rank][i] > took || r.Host[rank][i] > took) {
					t.Errorf("run %d of %s on rank %d: took %v, device %v", i, what, rank, took, r.Device[rank][i])
				}
			}
		}
	}
	g := symmem.Measure(put)
	within("a graph", g, 7)
	leaves := x.Bytes()
	if symmem.LSA().Size() < t.size {
		leaves = 0 // not known of a group that spans hosts
	}
	t.equal("calls of a graph", []int{calls, g.Calls, g.Sent}, []int{10, 10, leaves})

	calls = 0
	symmem.Slow("0 30ms puts")
	r := symmem.MeasureRuns(3, put)
	t.equal("calls", calls, 4)
	within("runs", r, 3)
	if rank, median := r.Slowest(); rank != 0 || median < late || r.Host[0][0] >= late {
		t.Errorf("the slowest rank is %d with %v, which the host took %v of", rank, median, r.Host[0][0])
	}
	turns := symmem.MeasureTurns(8, put, func() { h.Barrier(0) })
	symmem.Slow("off")
	within("the first of two", turns.First, 8)
	within("the second of two", turns.Second, 8)
	if first, second := turns.Pairs(); first+second > 8 || turns.First.Median() < late {
		t.Errorf("%d and %d pairs, the first takes %v", first, second, turns.First.Median())
	}
	t.refused(symmem.KindMisuse, func() { symmem.MeasureRuns(0, put) }, "must be positive")
	t.refused(symmem.KindMisuse, func() { symmem.Measure(func() { x.Ints() }) }, "captured")
	for range 2 { // the second frees what the first has left
		t.refused(symmem.KindMisuse, func() { symmem.MeasureRuns(2, func() { x.Slice(60, 70) }) }, "[60, 70)")
	}
	t.equal("runs after some that have failed", len(symmem.MeasureRuns(1, put).Took[0]), 1)
	h.Barrier(0)
	symmem.Synchronize()
	inbox.Free()
}
