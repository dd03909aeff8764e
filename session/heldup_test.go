package session

import (
	"testing"
	"time"
)

func TestHeldUp(t *testing.T) {
	start := time.Unix(0, 0)
	h := &heldUp{}
	before := time.Duration(0)
	for _, step := range []struct {
		at, starved time.Duration // milliseconds since the start; starved since then
		much, late  bool
		faults      int64
	}{
		{0, 5, false, true, 0},      // the first look: nothing is known of the time before
		{10, 15, false, true, 0},    // too early to judge
		{100, 35, true, true, 0},    // 30 ms of 100
		{120, 35, true, true, 0},    // as before
		{200, 45, false, true, 0},   // 10 ms of 100, but it may have to catch up
		{310, 45, false, false, 0},  // 200 ms later
		{400, 245, true, true, 0},   // the sum over several threads
		{1400, 305, false, true, 0}, // 60 ms of 1,000, perhaps all in the last 200
		{1500, 310, false, true, 0},
		{1600, 310, false, false, 0},
		{1700, 310, false, true, 3}, // it has read pages from a disk
		{1950, 310, false, false, 3},
	} {
		now := start.Add(step.at * time.Millisecond)
		h.judge(now, func() time.Duration {
			since := step.starved*time.Millisecond - before
			before += since
			return since
		}, func() int64 { return step.faults })
		if late := now.Sub(h.held) < foldAge; h.much != step.much || late != step.late {
			t.Errorf("after %d ms with %d ms starved: held up for much of the time %v, late %v", step.at, step.starved, h.much, late)
		}
	}
}
