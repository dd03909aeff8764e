package session

import (
	"reflect"
	"testing"
)

// TestFoldVariables checks the order of folded variables, and which of them count as different
// between the ranks that answered.
func TestFoldVariables(t *testing.T) {
	v := func(name, value string) Variable { return Variable{Name: name, Type: "int", Size: 8, Value: value} }
	got := FoldVariables([]Answer{
		{Rank: 0, Variables: []Variable{v("x", "1"), v("rank", "0")}},
		{Rank: 1, State: &RankState{Variables: []Variable{v("x", "1"), v("rank", "1"), v("only", "2")}}},
		{Rank: 2, Err: &Error{Msg: "dead"}},
		{Rank: 3, Variables: []Variable{v("x", "1"), v("rank", "0")}},
	})
	want := []SharedVariable{
		{[]int{0, 1, 3}, false, v("x", "1")},
		{[]int{0, 3}, true, v("rank", "0")},
		{[]int{1}, true, v("rank", "1")},
		{[]int{1}, true, v("only", "2")},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if names := (State{Variables: got}).Differing(); !reflect.DeepEqual(names, []string{"rank", "only"}) {
		t.Errorf("%v differ", names)
	}
}

// TestFoldState checks that facts that are equal on ranks are there once, whatever their times are.
func TestFoldState(t *testing.T) {
	world := GroupInfo{Name: "world", Members: []int{0, 1}, Channels: 4, Calls: 2}
	signalled := world
	signalled.Signals = []SignalInfo{{From: 0, Channel: 3}}
	wait := func(since float64) Wait {
		return Wait{Op: "barrier", Group: "world", Since: since, Seen: uint64(since)}
	}
	dead := &Error{Msg: "dead"}
	got := foldState([]Answer{
		{Rank: 0, State: &RankState{Streams: []StreamInfo{{ID: 1, Rests: true}, {ID: 0, Runs: "barrier"}},
			Groups: []GroupInfo{world}, Waits: []Wait{wait(1), wait(2)}}},
		{Rank: 1, State: &RankState{Streams: []StreamInfo{{ID: 0, Runs: "barrier"}}, Groups: []GroupInfo{signalled},
			Waits: []Wait{wait(3)}, Words: []WordInfo{{"f32[4]", 5, 7}}}},
		{Rank: 2, Err: dead},
		{Rank: 3, State: &RankState{Locked: true, Busy: []Busy{{Kernel: "k", Since: 4}}}},
	})
	want := State{
		Streams: []Shared[StreamInfo]{{[]int{0, 1}, StreamInfo{ID: 0, Runs: "barrier"}}, {[]int{0}, StreamInfo{ID: 1, Rests: true}}},
		Groups:  []Shared[GroupInfo]{{[]int{0}, world}, {[]int{1}, signalled}},
		Words:   []Shared[WordInfo]{{[]int{1}, WordInfo{"f32[4]", 5, 7}}},
		Waits:   []Shared[Wait]{{[]int{0, 1}, wait(1)}},
		Busy:    []Shared[Busy]{{[]int{3}, Busy{Kernel: "k", Since: 4}}},
		Locked:  []int{3},
		Errors:  []*Error{dead},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}
