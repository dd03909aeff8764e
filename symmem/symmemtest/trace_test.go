package symmemtest

import (
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// A trace has the operations in their order, with the time that each took and waited, and for whom; before and after it nothing is noted.
func traceCase(t *T) {
	const late = 150 * time.Millisecond
	x := symmem.Empty(symmem.I32, 1<<16)
	h := symmem.Rendezvous(x)
	h.Barrier(0)
	symmem.Synchronize()
	if ops, more := t.rt.StopTrace(); ops != nil || more != 0 {
		t.Errorf("without a trace: %+v, %d", ops, more)
	}
	t.rt.StartTrace()
	if t.rank == 1 {
		time.Sleep(late)
	}
	begun := time.Now()
	x.Fill(t.rank)
	h.Barrier(0)
	x.Ints()
	s := symmem.NewStream()
	h.Put((t.rank+1)%t.size, x.Slice(0, 1), s)
	h.Barrier(0)
	g := symmem.Capture(func() { x.Fill(7); h.Barrier(1) })
	g.Replay()
	symmem.Empty(symmem.I32, 1).Free()
	ops, more := t.rt.StopTrace()
	streams := map[int][]string{}
	for i, o := range ops {
		names := streams[o.Stream]
		if o.Stream < 0 { // such a call may meet the others several times
			names = slices.DeleteFunc(names, func(name string) bool { return name == o.Op })
		}
		streams[o.Stream] = append(names, o.Op)
		if o.Took <= 0 || i > 0 && o.Begin.Before(ops[i-1].Begin) {
			t.Errorf("%+v", o)
		}
	}
	t.equal("operations by stream", streams, map[int][]string{-1: {"Empty", "Free"}, 0: {"Fill", "barrier", "Ints", "barrier", "Replay"}, 1: {"put"}})
	if more != 0 || ops[0].Op != "Fill" || ops[0].Begin.Before(begun.Add(-time.Millisecond)) {
		t.Errorf("%d more; %+v, begun %v", more, ops[0], begun)
	}
	if t.rank == 0 {
		b := ops[1]
		waited := time.Duration(0)
		for _, w := range b.Waits {
			if slices.Equal(w.Peers, []int{1}) {
				waited = max(waited, w.Took)
			}
		}
		if b.Op != "barrier" || b.Took < late/2 || waited < late/2 || waited > b.Took {
			t.Errorf("the wait for rank 1: %+v", b)
		}
	}
	if ops, _ := t.rt.StopTrace(); ops != nil {
		t.Errorf("after the trace: %+v", ops)
	}
	s.Free()
	h.Barrier(0)
	symmem.Synchronize()
	x.Free()
}
