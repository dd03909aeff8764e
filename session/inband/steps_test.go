package inband

import (
	"testing"
	"time"
)

// A bar has the time since it began, and what is left of it; ranks that are together share the text,
// and a rank that comes much later has its own.
func TestTimes(t *testing.T) {
	var b bars
	start := time.Now()
	for _, c := range []struct {
		after time.Duration
		done  int
		ranks []int
		want  string
	}{
		{0, 0, []int{0, 1}, "2"},
		{500 * time.Millisecond, 1, []int{0, 1}, "2"},
		{2 * time.Second, 2, []int{0}, "2, 0:02, 0:08 left"},
		{2900 * time.Millisecond, 2, []int{1}, "2, 0:02, 0:08 left"},
		{10 * time.Second, 10, []int{0}, "2, 0:10"},
		{65 * time.Second, 5, []int{1}, "2, 1:05, 1:05 left"},
		{2 * time.Hour, 10, []int{1}, "2, 2:00:00"},
	} {
		d := Display{ID: "b", Update: c.done > 0, Steps: &Steps{c.done, 10}, Data: map[string]any{"text/plain": "2", "image/png": []byte{1}}}
		if b.addTimes(&d, c.ranks, start.Add(c.after)); d.Data["text/plain"] != c.want {
			t.Errorf("after %v, %d done: %q, want %q", c.after, c.done, d.Data["text/plain"], c.want)
		}
	}
	again := Display{ID: "b", Steps: &Steps{0, 10}, Data: map[string]any{"text/plain": "2"}}
	if b.addTimes(&again, []int{0}, start.Add(3*time.Hour)); again.Data["text/plain"] != "2" {
		t.Errorf("another bar of the name: %q", again.Data["text/plain"])
	}
	late := Display{ID: "of an earlier cell", Update: true, Steps: &Steps{5, 10}, Data: map[string]any{"text/plain": "2"}}
	b.addTimes(&late, []int{0}, start)
	late.Steps.Done, late.Data["text/plain"] = 7, "2"
	if b.addTimes(&late, []int{0}, start.Add(4*time.Second)); late.Data["text/plain"] != "2, 0:04, 0:06 left" {
		t.Errorf("a bar that another cell began: %q", late.Data["text/plain"])
	}
}

func TestTimesOfManySteps(t *testing.T) {
	if got := (Steps{Done: 1, Total: 1 << 62}).Times(0, time.Minute); got != "1:00" {
		t.Errorf("%q, want no estimate", got)
	}
}
