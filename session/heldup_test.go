package session

import (
	"testing"
	"time"
)

func TestHeldUp(t *testing.T) {
	start := time.Unix(0, 0)
	h := &heldUp{at: start, starved: time.Second}
	for _, step := range []struct {
		at, starved time.Duration // since the start
		want        bool
	}{
		{10, 10, false}, // too early to judge
		{100, 30, true}, // 30 ms of 100
		{120, 30, true}, // as before
		{200, 40, false},
		{300, 40, false},
		{400, 240, true}, // the sum over several threads
	} {
		if got := h.judge(start.Add(step.at*time.Millisecond), time.Second+step.starved*time.Millisecond); got != step.want {
			t.Errorf("after %d ms with %d ms starved: held up %v", step.at, step.starved, got)
		}
	}
}
