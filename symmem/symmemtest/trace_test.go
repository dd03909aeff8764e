package symmemtest

import (
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// A trace has the operations in their order, with the time that each took and waited, and the
// awaited ranks; operations before and after it are not recorded.
func traceCase(t *T) {
	const late = 400 * time.Millisecond
	x := symmem.Empty(symmem.I32, 1<<16)
	h := symmem.Rendezvous(x)
	arrives := symmem.Compile(`extern "C" __global__ void arrives(symm::Handle h, int peer) {
		const symm::u32 next = symm::load_relaxed(symm::rounds(h.signals, h, 0)) + 1;
		symm::wait_until<symm::u32>(h, symm::arrival(h.signals, h, h.rank, 0, peer), next, symm::kEqual, symm::kBarrier, peer, 0);
	}`)
	h.Barrier(0)
	symmem.Synchronize()
	if ops, more := t.rt.StopTrace(); ops != nil || more != 0 {
		t.Errorf("without a trace: %+v, %d", ops, more)
	}
	if t.rank == 1 { // late by the time that rank 0 waits for it in the barrier
		arrives.Launch(symmem.Grid(1), symmem.Block(1), h, 0, symmem.Timeout(20*time.Second))
		symmem.Synchronize()
		time.Sleep(late)
	}
	t.rt.StartTrace()
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
		if o.Stream < 0 { // a call on the host may meet the others several times
			names = slices.DeleteFunc(names, func(name string) bool { return name == o.Op })
		}
		streams[o.Stream] = append(names, o.Op)
		if o.Took <= 0 || i > 0 && o.Begin.Before(ops[i-1].Begin) {
			t.Errorf("%+v", o)
		}
	}
	t.equal("operations by stream", streams, map[int][]string{-1: {"Empty", "Free"},
		0: {"Fill", "barrier", "Ints", "barrier", "Replay"}, 1: {"put"}})
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
		if b.Op != "barrier" || b.Took < late || waited < late/2 || waited > b.Took {
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
