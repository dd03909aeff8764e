package session

import "testing"

// An error of a wait says first which ranks made another call of the same number.
func TestCallsDiffer(t *testing.T) {
	r := &run{ranks: []int{0, 1, 2, 3}, on: make([]rankRun, 4), watch: watch{}}
	for rank := range r.on {
		r.on[rank].takesPart = true
	}
	for _, rank := range []int{0, 2} {
		r.on[rank].result = &Result{}
		r.on[rank].tallies = []Tally{{Group: "world", Calls: 1, Last: "one_shot_all_reduce f32[64] sum", At: "cell[2]:1"}}
	}
	mine := Wait{Op: "two_shot_all_reduce f32[64] sum", Ordinal: 1, Group: "world"}
	r.watch.stuck.last = map[int]*statusEvent{1: {Waits: []Wait{mine}}, 3: {Waits: []Wait{mine}}}
	for _, c := range []struct {
		wait Wait
		want string
	}{
		{mine, "rank 0,2 made another call #1 in world: one_shot_all_reduce at cell[2]:1"},
		{Wait{Op: "one_shot_all_reduce f32[8] sum", Ordinal: 1, Group: "world"}, "rank 1,3 made another call #1 in world: two_shot_all_reduce"},
		{Wait{Op: "two_shot_all_reduce f32[64] sum", Ordinal: 2, Group: "world"}, ""},
		{Wait{Op: "two_shot_all_reduce f32[64] sum", Ordinal: 1, Group: "0,2"}, ""},
		{Wait{Op: "wait_signal"}, ""},
	} {
		if got := r.callsDiffer([]Wait{c.wait}); got != c.want {
			t.Errorf("%+v: %q, want %q", c.wait, got, c.want)
		}
	}
}
