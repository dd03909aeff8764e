package timeline

import "slices"

// critical walks back from the operation that ended last: through its own time to the wait that it
// depends on, to the operation that ended that wait, and so on; where an operation waited for
// nothing, to the rank's operation before it.
func (t *Timeline) critical() (path []Segment) {
	arrows := map[call][]Flow{} // to the waits of a call
	for _, f := range t.Flows {
		if s := t.At(f.To); s.Track >= 0 {
			arrows[call{f.To.Rank, s.Call}] = append(arrows[call{f.To.Rank, s.Call}], f)
		}
	}
	at, found := End{}, false
	works := make([][]int, len(t.Ranks)) // the operations of each rank, by end
	for i := range t.Ranks {
		for j := range t.Ranks[i].Slices {
			s := &t.Ranks[i].Slices[j]
			if s.Kind != Operation {
				continue
			}
			works[i] = append(works[i], j)
			if !found || s.End() > t.At(at).End() {
				at, found = End{i, j}, true
			}
		}
		slices.SortStableFunc(works[i], func(a,
			b int) int {
			return int(min(max(t.Ranks[i].Slices[a].End()-t.Ranks[i].Slices[b].End(), -1), 1))
		})
	}
	if !found {
		return nil
	}
	add := func(rank int, name, line string, begin, end int64) {
		if end <= begin {
			return
		}
		r := t.Ranks[rank].Rank
		if n := len(path) - 1; n >= 0 && path[n].Rank == r && path[n].Name == name && path[n].At == line && path[n].Begin == end {
			path[n].Begin, path[n].Took = begin, path[n].Took+end-begin
			return
		}
		path = append(path, Segment{Rank: r, Name: name, At: line, Begin: begin, Took: end - begin})
	}
	now := t.At(at).End()
	type place struct {
		at  End
		now int64
	}
	for seen := map[place]bool{}; !seen[place{at, now}]; {
		seen[place{at, now}] = true
		s := t.At(at)
		// The last wait before now that another operation ended.
		var by Flow
		waited := false
		for _, f := range arrows[call{at.Rank, s.Call}] {
			if end := t.At(f.To).End(); end <= now && f.From != at && (!waited || end > t.At(by.To).End()) {
				by, waited = f, true
			}
		}
		if waited {
			end := t.At(by.To).End()
			add(at.Rank, s.Name, s.At, end, now)
			from := t.At(by.From)
			reached := min(end, max(from.End(), from.Begin))
			if reached < end { // the signal's way
				add(at.Rank, s.Name, s.At, reached, end)
			}
			at, now = by.From, reached
			if from.Kind != Operation { // a call on the host: its own time is the end of the walk
				add(at.Rank, from.Name, from.At, from.Begin, now)
				break
			}
			continue
		}
		begin := min(s.Begin, now)
		add(at.Rank, s.Name, s.At, begin, now)
		now = begin
		list := works[at.Rank]
		i := len(list) - 1
		for i >= 0 && (t.Ranks[at.Rank].Slices[list[i]].End() > now || End{at.Rank, list[i]} == at) {
			i--
		}
		if i < 0 {
			add(at.Rank, Idle, "", t.begin(), now)
			break
		}
		at = End{at.Rank, list[i]}
		end := t.At(at).End()
		add(at.Rank, Idle, "", end, now)
		now = end
	}
	slices.Reverse(path)
	return path
}
