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
	}{
		{0, 5, false, false},    // before the first look
		{10, 15, false, false},  // too early to judge
		{100, 35, true, true},   // 30 ms of 100
		{120, 35, true, true},   // as before
		{200, 45, false, false}, // 10 ms of 100
		{300, 45, false, false},
		{400, 245, true, true},   // the sum over several threads
		{1400, 305, false, true}, // 60 ms of 1,000, perhaps all in the last 200
		{1500, 310, false, false},
	} {
		h.judge(start.Add(step.at*time.Millisecond), func() time.Duration {
			since := step.starved*time.Millisecond - before
			before += since
			return since
		})
		if h.much != step.much || h.late != step.late {
			t.Errorf("after %d ms with %d ms starved: held up for much of the time %v, late %v", step.at, step.starved, h.much, h.late)
		}
	}
}
