package copies

import (
	"testing"

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

// A member signals all others, awaits all others, and then clears their words, between two changes
// of its phase.
func TestMeet(t *testing.T) {
	w := &Watch{group: Group{Words: []device.Ptr{0x1000, 0x2000, 0x3000}, Rank: 1}}
	at := func(owner device.Ptr, i int) device.Ptr { return owner + device.Ptr(4*i) }
	phase := func(p uint32) []device.Value {
		return []device.Value{{Word: at(0x2000, layout.CopyCall), Value: 7}, {Word: at(0x2000, layout.CopyPhase), Value: p}, {Word: at(0x2000, layout.CopyMark)}}
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
