package timeline

import (
	"cmp"
	"slices"
)

// span is a time from begin to end.
type span struct{ begin, end int64 }

// union sorts spans and joins those that overlap.
func union(spans []span) (out []span) {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.begin, b.begin) })
	for _, s := range spans {
		switch n := len(out) - 1; {
		case s.end <= s.begin:
		case n >= 0 && s.begin <= out[n].end:
			out[n].end = max(out[n].end, s.end)
		default:
			out = append(out, s)
		}
	}
	return out
}

// without removes from spans the parts that others cover. Both are unions.
func without(spans, others []span) (out []span) {
	i := 0
	for _, s := range spans {
		for i < len(others) && others[i].end <= s.begin {
			i++
		}
		for j := i; j < len(others) && others[j].begin < s.end; j++ {
			if o := others[j]; o.begin > s.begin {
				out = append(out, span{s.begin, o.begin})
			}
			s.begin = max(s.begin, others[j].end)
		}
		if s.begin < s.end {
			out = append(out, s)
		}
	}
	return out
}

// total returns the sum of the lengths of spans.
func total(spans []span) (ns int64) {
	for _, s := range spans {
		ns += s.end - s.begin
	}
	return ns
}

// shared returns the time that at least two of several unions cover.
func shared(unions [][]span) (ns int64) {
	type edge struct {
		at int64
		by int
	}
	var edges []edge
	for _, u := range unions {
		for _, s := range u {
			edges = append(edges, edge{s.begin, 1}, edge{s.end, -1})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	n := 0
	for i, e := range edges {
		if n >= 2 {
			ns += e.at - edges[i-1].at
		}
		n += e.by
	}
	return ns
}
