package copies

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/layout"
	"github.com/symmrepl/symmrepl/symmem/internal/core/waits"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// A watch that ends withdraws what it has published: nobody else does.
func TestForget(t *testing.T) {
	page := new(device.Watch)
	w := &Watch{group: Group{Page: page}, published: []bool{true}}
	waits.Store(&page.Waits[0], &device.WaitRecord{State: device.WaitPending, Kind: device.WaitCopy})
	w.Forget()
	for r := range waits.Pending(page) {
		t.Errorf("still published: %+v", r)
	}
	if w.published[0] {
		t.Error("the watch counts it as published")
	}
}

// peeking is a device whose memory says that the member waits for its peer. The peer ends the wait,
// and the stream with it, while the watch reads.
type peeking struct {
	device.Device
	begun, read chan struct{}
}

func (d peeking) Peek(dst []byte, _ device.Ptr) error {
	dst[4*layout.CopyPhase] = phaseDone
	close(d.begun)
	<-d.read
	return nil
}

func (peeking) Poke(device.Ptr, uint32) error { return nil }

type busy struct{}

func (busy) AtRest() bool { return false }

// Waits that a watch gives up while Forget is called are on the page when Forget returns, not
// later.
func TestForgetWhileLooking(t *testing.T) {
	d := peeking{begun: make(chan struct{}), read: make(chan struct{})}
	page := new(device.Watch)
	w := &Watch{group: Group{Device: d, Page: page, Words: make([]device.Ptr, 2), Limit: func(uint32) time.Duration { return 0 },
		Aborted: func() bool { return true }}}
	w.Add(busy{})
	<-d.begun
	state := make(chan uint32)
	go func() {
		w.Forget()
		state <- atomic.LoadUint32(&page.Fault.State)
	}()
	close(d.read)
	if s := <-state; s != device.WaitAborted {
		t.Errorf("the fault is in state %d when Forget returns, want %d", s, device.WaitAborted)
	}
	if w.mu.Lock(); w.streams != nil {
		t.Error("a stream is still watched")
	}
	w.mu.Unlock()
}

// A member signals all others, awaits all others, and then clears their words, between two changes
// of its phase.
func TestMeet(t *testing.T) {
	w := &Watch{group: Group{Words: []device.Ptr{0x1000, 0x2000, 0x3000}, Rank: 1}}
	at := func(owner device.Ptr, i int) device.Ptr { return owner + device.Ptr(4*i) }
	phase := func(p uint32) []device.Value {
		return []device.Value{{Word: at(0x2000, layout.CopyCall), Value: 7}, {Word: at(0x2000, layout.CopyPhase), Value: p},
			{Word: at(0x2000, layout.CopyMark)}}
	}
	want := append(phase(phaseComing), []device.Value{
		{Word: at(0x1000, layout.CopyComing+1), Value: 1}, {Word: at(0x3000, layout.CopyComing+1), Value: 1},
		{Word: at(0x2000, layout.CopyComing), Value: 1, Await: true, From: 1}, {Word: at(0x2000, layout.CopyComing+2), Value: 1, Await: true, From: 3},
		{Word: at(0x2000, layout.CopyComing)}, {Word: at(0x2000, layout.CopyComing+2)},
	}...)
	want = append(want, phase(phaseCopies)...)
	got := w.Come(7)
	if len(got) != len(want) {
		t.Fatalf("%d operations, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("operation %d is %+v, want %+v", i, got[i], want[i])
		}
	}
	if last := w.Finish(7); last[1].Value != phaseDone || last[3].Word != at(0x1000, layout.CopyDone+1) || last[len(last)-2].Value != phaseNone {
		t.Errorf("the end is %+v", last)
	}
}
