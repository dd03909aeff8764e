package watchdog

import (
	"testing"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/wire"
)

// An error of a wait says first which ranks made another call of the same number.
func TestCallsDiffer(t *testing.T) {
	cell, w := &Snapshot{Ranks: make([]Rank, 4)}, &Watch{}
	for rank := range cell.Ranks {
		cell.Ranks[rank].TakesPart = true
	}
	for _, rank := range []int{0, 2} {
		cell.Ranks[rank].Result = &session.Result{}
		cell.Ranks[rank].Tallies = []session.Tally{{Group: "world", Calls: 1, Last: "one_shot_all_reduce f32[64] sum", At: "cell[2]:1"}}
	}
	mine := session.Wait{Op: "two_shot_all_reduce f32[64] sum", Ordinal: 1, Group: "world"}
	w.stuck.last = map[int]*wire.Status{1: {Waits: []session.Wait{mine}}, 3: {Waits: []session.Wait{mine}}}
	for _, c := range []struct {
		wait session.Wait
		want string
	}{
		{mine, "rank 0,2 made another call #1 in world: one_shot_all_reduce at cell[2]:1"},
		{session.Wait{Op: "one_shot_all_reduce f32[8] sum", Ordinal: 1, Group: "world"}, "rank 1,3 made another call #1 in world: two_shot_all_reduce"},
		{session.Wait{Op: "two_shot_all_reduce f32[64] sum", Ordinal: 2, Group: "world"}, ""},
		{session.Wait{Op: "two_shot_all_reduce f32[64] sum", Ordinal: 1, Group: "0,2"}, ""},
		{session.Wait{Op: "wait_signal"}, ""},
	} {
		if got := w.callsDiffer(cell, []session.Wait{c.wait}); got != c.want {
			t.Errorf("%+v: %q, want %q", c.wait, got, c.want)
		}
	}
}
