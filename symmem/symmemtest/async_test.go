package symmemtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// asyncCase calls collectives and calculations asynchronously, more of them at once than there were
// streams before.
func asyncCase(t *T) {
	x := symmem.Empty(symmem.I32, 100)
	h := symmem.Rendezvous(x)
	var works []*symmem.Work
	var results []*symmem.Tensor
	for c := range 6 {
		x.Fill(c + t.rank) // Async sees what was issued before
		var all *symmem.Tensor
		w := symmem.Async(func() {
			if c%2 == 0 {
				all = symmem.AllGather(x)
			} else {
				all = symmem.AllGather(x, symmem.CopyEngine())
			}
		})
		w.Wait() // before x is filled again, and all is read
		works, results = append(works, w), append(results, all)
	}
	for c, all := range results {
		for p := range t.size {
			t.equal(fmt.Sprint("call ", c, ", rank ", p), all.Slice(100*p, 100*p+100).Ints(), slices.Repeat([]int{c + p}, 100))
		}
	}
	symmem.Synchronize()
	for i, w := range works {
		if !w.Done() {
			t.Errorf("%v is not done after Synchronize", w)
		}
		if d := w.Time(); d < 0 || d > time.Minute {
			t.Errorf("%v took %v", w, d)
		}
		if i > 0 && w.String() == works[i-1].String() {
			t.Errorf("two works are called %v", w)
		}
		w.Wait()
		w.Synchronize()
	}

	// A gate keeps a work from ending: the current stream goes on, and the host.
	h.ResetSignal(1)
	h.Barrier(0)
	y := symmem.Local(symmem.I32, 4)
	w := symmem.Async(func() {
		h.WaitForSignal(1, ">=", 1, symmem.Timeout(40*time.Second))
		y.Fill(7)
	})
	z := symmem.Local(symmem.I32, 4).Fill(3)
	t.equal("beside a work", z.Ints(), []int{3, 3, 3, 3})
	if w.Done() {
		t.Errorf("%v is done though its gate is shut", w)
	}
	second := symmem.Async(func() { z.Fill(5) }) // has another stream
	second.Synchronize()
	t.equal("a second work", z.Ints(), []int{5, 5, 5, 5})
	other := symmem.NewStream()
	w.Wait(other)
	copied := symmem.Local(symmem.I32, 4)
	h.SignalAdd(t.rank, 1, 1)
	symmem.OnStream(other, func() { copied.CopyFrom(y) })
	other.Synchronize()
	t.equal("after Wait on a stream", copied.Ints(), []int{7, 7, 7, 7})
	if d := w.Time(); d <= 0 {
		t.Errorf("the gated work took %v", d)
	}
	other.Free()

	// Errors in the function come back as those of a plain call do, and the stream is current again.
	t.refused(symmem.KindMisuse, func() { symmem.Async(func() { symmem.AllReduce(x, "product") }) }, "all_reduce", "must be")
	failed := errors.New("mine")
	func() {
		defer func() {
			if got := recover(); got != failed {
				t.Errorf("got %v, want the panic of the function", got)
			}
		}()
		symmem.Async(func() { panic(failed) })
	}()
	symmem.Async(func() { symmem.Async(func() { z.Fill(6) }).Wait() }).Wait()
	t.equal("a work in a work", z.Ints(), []int{6, 6, 6, 6})
	t.refused(symmem.KindMisuse, func() { symmem.Capture(func() { symmem.Async(func() { z.Fill(1) }) }) }, "Async", "a graph has one stream")
	t.refused(symmem.KindMisuse, func() { symmem.Capture(func() { w.Wait() }) }, "Work.Wait", "not allowed while a graph is captured")
	h.ResetSignal(1)
	h.Barrier(0)
	symmem.Synchronize()
	x.Free()
}

// asyncTimeoutCase leaves rank 0 alone in a work: the wait and the error name it.
func asyncTimeoutCase(t *T) {
	x := symmem.Empty(symmem.F32, 100).Fill(t.rank)
	symmem.Rendezvous(x)
	out := symmem.Local(symmem.F32, 100*t.size)
	symmem.Synchronize() // Recover would drop pending work
	if t.rank == 0 {
		w := symmem.Async(func() { symmem.AllGatherOut(x, out, symmem.CopyEngine()) })
		told := false
		for end := time.Now().Add(20 * time.Second); !told && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			told = slices.ContainsFunc(t.rt.Waits(), func(wait symmem.Wait) bool {
				return strings.HasPrefix(wait.Op, "all_gather") && strings.Contains(wait.For, fmt.Sprintf("to come to the copies in %v of Async", w))
			})
		}
		if !told {
			t.Errorf("Waits did not tell of the wait: %+v", t.rt.Waits())
		}
		t.rt.Abort("the user pressed Ctrl-C")
		t.refused(symmem.KindInterrupted, w.Synchronize, "all_gather", fmt.Sprintf("in %v of Async", w))
	}
	symmem.Recover()
	symmem.Async(func() { symmem.AllGatherOut(x, out) }).Wait()
	for r := range t.size {
		t.equal("afterwards", out.Slice(100*r, 100*r+100).Ints(), slices.Repeat([]int{r}, 100))
	}
	x.Free()
}

// copyEngineDefaultCase makes CopyEngine the default of a group, and of groups made after the
// setting of the world.
func copyEngineDefaultCase(t *T) {
	ways := func(g *symmem.Group) string {
		x := g.Empty(symmem.I32, g.Size(), g.Size()).Fill(g.Rank() + 1)
		symmem.Rendezvous(x, g)
		out := symmem.Local(symmem.I32, g.Size(), g.Size())
		ordinary := symmem.Local(symmem.I32, g.Size(), g.Size()).CopyFrom(x)
		got := symmem.Explain(func() {
			t.equal("all_gather", symmem.AllGather(x).Sum().Ints(), []int{g.Size() * g.Size() * g.Size() * (g.Size() + 1) / 2})
			symmem.AllToAllOut(x, out)
			t.equal("reduce_scatter", symmem.ReduceScatter(x, "sum").Ints(), slices.Repeat([]int{g.Size() * (g.Size() + 1) / 2}, g.Size()))
			symmem.ReduceScatter(x, "sum", symmem.SplitLastDim())
			symmem.AllToAllOut(ordinary, x)
			symmem.AllReduce(x, "sum")
		})
		x.Free()
		return got
	}
	count := func(what string, g *symmem.Group, want int) {
		got := ways(g)
		if n := strings.Count(got, "because CopyEngine is the group's default"); n != want {
			t.Errorf("%s: %d of the calls took copy engines, want %d:\n%s", what, n, want, got)
		}
	}
	count("by default", symmem.World(), 0)
	symmem.World().SetCopyEngine(true)
	count("of the world", symmem.World(), 3)
	g := symmem.NewGroup(symmem.World().Ranks()...)
	count("of a group made then", g, 3)
	g.SetCopyEngine(false)
	count("of a group without it", g, 0)
	symmem.World().SetCopyEngine(false)
	x, out := symmem.Empty(symmem.I32, 4), symmem.Local(symmem.I32, 4*t.size)
	symmem.Rendezvous(x)
	got := symmem.Explain(func() { symmem.AllGatherOut(x, out, symmem.CopyEngine()) })
	if !strings.Contains(got, "because CopyEngine was given") {
		t.Errorf("got %q", got)
	}
	x.Free()
	g.Free()
}
