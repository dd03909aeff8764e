package trace

import (
	"reflect"
	"testing"

	"github.com/symmrepl/symmrepl/internal/timeline"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

const ms = 1000000

// A wait is one in a trace though its kernel, or the goroutine that looks, had to wait for a
// processor; the next wait of the operation is another.
func TestSeenWaits(t *testing.T) {
	o := &operation{}
	tr := &Trace{calls: map[uint32]known{7: {o, []int{4, 5}}}}
	for _, look := range []struct {
		began       uint64
		elapsed, at int64
	}{{1, ms, 2 * ms}, {1, 70 * ms, 70 * ms}, {1, 71 * ms, 200 * ms}, {2, 5 * ms, 300 * ms}, {2, 5 * ms, 310 * ms}} {
		tr.saw(&device.WaitRecord{Ordinal: 7, Kind: device.WaitBarrier, Peer: 1, Channel: 3, Began: look.began, Elapsed: uint64(look.elapsed)}, look.at)
	}
	tr.saw(&device.WaitRecord{Ordinal: 8}, 400*ms) // of no call that is known
	const what = "the barrier on channel 3"
	if want := []wait{{[]int{5}, false, what, 0, 200 * ms, 1}, {[]int{5}, false, what, 295 * ms, 310 * ms, 2}}; !reflect.DeepEqual(o.waits, want) {
		t.Errorf("waits: %+v, want %+v", o.waits, want)
	}
}

// Waits that overlap become slices side by side, within the operation.
func TestWaited(t *testing.T) {
	o := &operation{Slice: timeline.Slice{Track: 1, Begin: 10 * ms, Took: 90 * ms, Call: 3, Group: "world", Meets: "world #1"}}
	o.waits = []wait{
		{[]int{1}, false, "a barrier", 0, 20 * ms, 1}, {[]int{2}, false, "a barrier", 15 * ms, 60 * ms, 2},
		{[]int{3}, false, "a barrier", 15 * ms, 60*ms + 500, 3},
		{[]int{2}, false, "a barrier", 70 * ms, 200 * ms, 4}, {nil, false, "a word", 65 * ms, 66 * ms, 5},
	}
	o.clip()
	slice := func(begin, end int64, what string, peers, ended []int) timeline.Slice {
		return timeline.Slice{Kind: timeline.Wait, Track: 1, Name: "wait", Begin: begin, Took: end - begin, Call: 3,
			Group: "world", Meets: "world #1", For: what, Peers: peers, Ended: ended}
	}
	const what = "a barrier"
	want := []timeline.Slice{
		slice(10*ms, 15*ms, what, []int{1}, nil), slice(15*ms, 20*ms, what, []int{1, 2, 3}, []int{1}),
		slice(20*ms, 60*ms, what, []int{2, 3}, []int{2}), slice(60*ms, 60*ms+500, what, []int{3}, []int{3}),
		slice(65*ms, 66*ms, "a word", nil, nil), slice(70*ms, 100*ms, what, []int{2}, []int{2}),
	}
	got := o.waited()
	for i := range got {
		if len(got[i].Peers) == 0 {
			got[i].Peers = nil
		}
		if len(got[i].Ended) == 0 {
			got[i].Ended = nil
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// Activities of the device become the parts of the operations that they are of.
func TestRecordedOperations(t *testing.T) {
	o := &operation{Slice: timeline.Slice{Kind: timeline.Operation, Name: "all_gather", Track: 2, Call: 1}, stores: []int{6, -1}}
	tr := &Trace{ops: []*operation{o}, recording: recorder{
		{Kind: device.ActivityCopy, Call: 1, Begin: 10 * ms, End: 20 * ms, Bytes: 64},
		{Kind: device.ActivityAwait, Call: 1, Begin: 20 * ms, End: 30 * ms}, {Kind: device.ActivityAwait, Call: 1, Begin: 30 * ms, End: 31 * ms},
		{Kind: device.ActivityKernel, Call: 1, Name: "sum", Begin: 40 * ms, End: 50 * ms, Grid: [3]int{8, 2, 1}, Block: [3]int{32, 1, 1}},
		{Kind: device.ActivityEvent, Call: 1, Begin: 50 * ms, End: 50*ms + 100},
		{Kind: device.ActivityKernel, Call: 2, Name: "of no operation"},
	}}
	var to timeline.Rank
	if err := tr.recorded(&to); err != nil || to.Source != "a test" || to.More != 3 || to.Clock.Device != 9 {
		t.Errorf("%+v, %v", to, err)
	}
	want := &operation{
		Slice: timeline.Slice{Kind: timeline.Operation, Name: "all_gather", Track: 2, Call: 1, Begin: 10 * ms, Took: 40 * ms}, stores: []int{},
		parts: []timeline.Slice{
			{Kind: timeline.Copy, Track: 2, Name: "copy", Begin: 10 * ms, Took: 10 * ms, Call: 1, Bytes: 64},
			{Kind: timeline.Kernel, Track: 2, Name: "sum", Begin: 40 * ms, Took: 10 * ms, Call: 1, Grid: []int{8, 2}, Block: []int{32}},
		},
		waits: []wait{{[]int{6}, false, "it to come to the copies, or to be done with them", 20 * ms, 30 * ms, 0}, {nil, false, "a word", 30 * ms, 31 * ms, 0}},
	}
	if !reflect.DeepEqual(o, want) {
		t.Errorf("got  %+v\nwant %+v", o, want)
	}
}

// recorder is a recording of known activities.
type recorder []device.Activity

func (recorder) Source() string                                            { return "a test" }
func (recorder) Within() int64                                             { return 9 }
func (recorder) Waits() bool                                               { return true }
func (recorder) Issue(_ device.Stream, _ uint64, issue func() error) error { return issue() }
func (r recorder) End() ([]device.Activity, int, error)                    { return r, 3, nil }
