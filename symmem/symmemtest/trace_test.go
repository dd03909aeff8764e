package symmemtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/internal/timeline"
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
	if r := t.rt.StopTrace(); r != nil {
		t.Errorf("without a trace: %+v", r)
	}
	if t.rank == 1 { // late by the time that rank 0 waits for it in the barrier
		arrives.Launch(symmem.Grid(1), symmem.Block(1), h, 0, symmem.Timeout(20*time.Second))
		symmem.Synchronize()
		time.Sleep(late)
	}
	t.rt.StartTrace()
	begun := timeline.Now()
	x.Fill(t.rank)
	resume := t.rt.PauseTrace() // what is called until then is not in the trace
	x.Stats()
	_ = x.String()
	resume()
	h.Barrier(0)
	x.Ints()
	s := symmem.NewStream()
	h.Put((t.rank+1)%t.size, x.Slice(0, 1), s)
	h.Barrier(0)
	g := symmem.Capture(func() { x.Fill(7); h.Barrier(1) })
	g.Replay()
	symmem.Empty(symmem.I32, 1).Free()
	r := t.rt.StopTrace()
	streams := map[timeline.Track][]string{}
	var first, met *timeline.Slice
	for i := range r.Slices {
		s := &r.Slices[i]
		if s.Took < 0 || i > 0 && s.Begin < r.Slices[i-1].Begin {
			t.Errorf("%+v", s)
		}
		meeting := s.Kind == timeline.Call && s.Meets != ""
		if s.Kind != timeline.Operation && !meeting {
			continue
		}
		names := streams[s.Track]
		if meeting { // a call on the host may meet the others several times
			names = slices.DeleteFunc(names, func(name string) bool { return name == s.Name })
		} else if first == nil {
			first = s
		}
		if s.Name == "barrier" && met == nil {
			met = s
		}
		streams[s.Track] = append(names, s.Name)
	}
	t.equal("operations by stream", streams, map[timeline.Track][]string{timeline.Host: {"Empty", "Free"},
		0: {"Fill", "barrier", "Ints", "barrier", "Replay"}, 1: {"put"}})
	if r.More != 0 || first.Name != "Fill" || first.Begin < begun-r.Clock.Device {
		t.Errorf("%d more; %+v, begun %v", r.More, first, begun)
	}
	if t.rank == 0 {
		waited := int64(0)
		for _, s := range r.Slices {
			if s.Kind == timeline.Wait && s.Call == met.Call && slices.Contains(s.Peers, 1) {
				waited = max(waited, s.Took)
			}
		}
		if met.Took < int64(late) || waited < int64(late)/2 || waited > met.Took {
			t.Errorf("the wait for rank 1 is %d of %+v", waited, met)
		}
	}
	if r := t.rt.StopTrace(); r != nil {
		t.Errorf("after the trace: %+v", r)
	}
	s.Free()
	h.Barrier(0)
	symmem.Synchronize()
	x.Free()
}

// Trace returns the same timeline on all ranks: with everyone's operations, and the arrow of a
// signal from one to the next, also over the network. A trace within a trace is refused.
func tracedCase(t *T) {
	x := symmem.Empty(symmem.I32, 16)
	h := symmem.Rendezvous(x)
	right, left := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	tl := symmem.Trace(func() {
		h.PutSignal(right, 3)
		h.WaitSignal(left, 3)
		t.refused(symmem.KindMisuse, func() { symmem.Trace(func() {}) }, "Trace", "a trace is under way")
	})
	text := tl.String()
	for r := range t.size {
		if !strings.Contains(text, fmt.Sprintf("rank %-2d |", r)) {
			t.Errorf("rank %d is not in the timeline:\n%s", r, text)
		}
	}
	for _, part := range []string{"put_signal", "wait_signal", "times on streams of rank 0-", "critical"} {
		if !strings.Contains(text, part) {
			t.Errorf("the timeline lacks %q:\n%s", part, text)
		}
	}
	if !strings.Contains(text, tl.Summary()) {
		t.Errorf("the text has another summary than\n%s", tl.Summary())
	}
	path := filepath.Join(os.TempDir(), fmt.Sprintf("symmem-traced-%d-%d.pftrace", os.Getpid(), t.rank))
	defer os.Remove(path)
	tl.Save(path)
	if data, err := os.ReadFile(path); err != nil || !bytes.Contains(data, []byte("put_signal")) {
		t.Errorf("the file has %d bytes: %v", len(data), err)
	}
	t.refused(symmem.KindSystem, func() { tl.Save(filepath.Join(path, "below")) }, "Timeline.Save")
	h.Barrier(0)
	symmem.Synchronize()
	x.Free()
}

// tracedWork is the work of calls on streams in a record, and the calls by which ranks met.
func tracedWork(r *symmem.Traced) (list []timeline.Slice) {
	for _, s := range r.Slices {
		if s.Kind == timeline.Operation || s.Kind == timeline.Call && s.Meets != "" {
			list = append(list, s)
		}
	}
	return list
}
