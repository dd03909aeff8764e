package session

import (
	"testing"
	"time"
)

func TestHeldUp(t *testing.T) {
	start := time.Unix(0, 0)
	var starved time.Duration
	h := &heldUp{at: start}
	h.starved = func() time.Duration {
		since := starved
		starved = 0
		return since
	}
	for _, step := range []struct {
		at, starved time.Duration // at since the start, starved since the step before
		want        bool
	}{
		{10, 10, false}, // too early to judge
		{100, 20, true}, // 30 ms of 100
		{120, 0, true},  // as before
		{200, 10, false},
		{300, 0, false},
		{400, 200, true}, // the sum over several threads
	} {
		starved += step.starved * time.Millisecond
		if got := h.judge(start.Add(step.at * time.Millisecond)); got != step.want {
			t.Errorf("after %d ms with %d ms more starved: held up %v", step.at, step.starved, got)
		}
	}
}
