package worker

import (
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session/fold"
	"github.com/symmrepl/symmrepl/session/wire"
)

func TestHeldUp(t *testing.T) {
	start := time.Unix(0, 0)
	h := &heldUp{}
	before := time.Duration(0)
	for _, step := range []struct {
		at, starved, ran time.Duration // milliseconds since the start; starved and ran since then
		slow             wire.Slowness
		late             bool
		faults           int64
	}{
		{0, 5, 0, 0, true, 0},        // the first look: nothing is known of the time before
		{10, 15, 0, 0, true, 0},      // too early to judge
		{100, 35, 3, 11, true, 0},    // 30 ms of 100, of which it has run for 3
		{120, 35, 3, 11, true, 0},    // as before
		{200, 45, 4, 0, true, 0},     // 10 ms of 100, but it may have to catch up
		{310, 45, 5, 0, false, 0},    // 200 ms later
		{400, 245, 205, 8, true, 0},  // the sums over several threads
		{1400, 305, 205, 0, true, 0}, // 60 ms of 1,000, perhaps all in the last 200
		{1500, 310, 205, 0, true, 0},
		{1600, 310, 205, 0, false, 0},
		{1700, 310, 205, 0, true, 3}, // it has read pages from a disk
		{1950, 310, 205, 0, false, 3},
		{2050, 410, 205, 64, true, 3}, // it has not run at all
	} {
		now := start.Add(step.at * time.Millisecond)
		h.judge(now, func() time.Duration {
			since := step.starved*time.Millisecond - before
			before += since
			return since
		}, func() usage { return usage{step.ran * time.Millisecond, step.faults} })
		if late := now.Sub(h.held) < fold.Age; h.slow != step.slow || late != step.late {
			t.Errorf("after %d ms with %d ms starved: slowness %v, late %v", step.at, step.starved, h.slow, late)
		}
	}
}
