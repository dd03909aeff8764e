package trace

import (
	"cmp"
	"slices"

	"github.com/symmrepl/symmrepl/internal/timeline"
)

// clip moves the waits, which another clock may have timed, into the time of the operation.
func (o *operation) clip() {
	for i := range o.waits {
		w := &o.waits[i]
		w.begin, w.end = min(max(w.begin, o.Begin), o.End()), min(max(w.end, o.Begin), o.End())
	}
}

// waited returns the waits as slices side by side: each is a time in which the operation waited for
// the same ranks, and names the ranks that ended it.
func (o *operation) waited() (out []timeline.Slice) {
	const least = 1000 // nanoseconds; what is shorter belongs to the next
	var edges []int64
	for _, w := range o.waits {
		edges = append(edges, w.begin, w.end)
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	for i := 0; i+1 < len(edges); i++ {
		begin, end := edges[i], edges[i+1]
		s := timeline.Slice{Kind: timeline.Wait, Track: o.Track, Name: "wait", Begin: begin, Took: end - begin, Call: o.Call,
			Group: o.Group, Meets: o.Meets, Caller: o.Caller}
		found := false
		for _, w := range o.waits {
			if w.begin > begin || w.end < end {
				continue
			}
			found = true
			s.For = cmp.Or(s.For, w.what)
			s.Peers = append(s.Peers, w.peers...)
			if w.end == end && !w.mine {
				s.Ended = append(s.Ended, w.peers...)
			}
		}
		if !found {
			continue
		}
		s.Peers, s.Ended = set(s.Peers), set(s.Ended)
		if n := len(out) - 1; n >= 0 && out[n].End() == begin && (slices.Equal(out[n].Peers, s.Peers) || out[n].Took < least) {
			s.Begin, s.Took = out[n].Begin, end-out[n].Begin
			out[n] = s
			continue
		}
		out = append(out, s)
	}
	return out
}

// set sorts ranks and removes those that are there twice.
func set(ranks []int) []int {
	slices.Sort(ranks)
	return slices.Compact(ranks)
}
