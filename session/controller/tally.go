package controller

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/session"
)

// compareTallies returns an error for every group whose members, as far as they ran the cell, have
// made different calls.
func (r *run) compareTallies() []*session.Error {
	groups := map[string]map[int]session.Tally{} // by key and rank
	members := map[string][]int{}
	for _, rank := range r.ranks {
		for _, t := range r.on[rank].Tallies {
			if groups[t.Key] == nil {
				groups[t.Key] = map[int]session.Tally{}
			}
			groups[t.Key][rank], members[t.Key] = t, t.Ranks
		}
	}
	var errs []*session.Error
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		type made struct{ calls, digest uint64 }
		name, alike, what := "", map[made][]int{}, map[made]string{}
		for _, rank := range members[key] {
			if rank >= len(r.on) || !r.on[rank].TakesPart {
				continue
			}
			t := groups[key][rank] // zero if the rank made no call
			m := made{t.Calls, t.Digest}
			if alike[m] = append(alike[m], rank); len(alike[m]) > 1 {
				continue
			}
			what[m] = "no call"
			if t.Calls > 0 {
				name = t.Group
				what[m] = count.Of(t.Calls, "call") + ", the last of them " + t.Last
				if t.At != "" {
					what[m] += " at " + t.At
				}
			}
		}
		if len(alike) == 1 {
			continue
		}
		var parts []string
		for _, m := range slices.SortedFunc(maps.Keys(alike), func(a, b made) int { return alike[a][0] - alike[b][0] }) {
			parts = append(parts, fmt.Sprintf("rank %s: %s", session.FormatRanks(alike[m]), what[m]))
		}
		errs = append(errs, &session.Error{
			Kind: session.KindMismatch, Ranks: members[key], Cell: r.cell.ID, Peer: -1,
			Msg:  fmt.Sprintf("the ranks have made different collective calls in %s: %s", name, strings.Join(parts, "; ")),
			Hint: "results of this cell may be wrong; make the same calls in the same order, on the same parts of the same tensors, on all of them",
		})
	}
	return errs
}
