package watchdog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// longCycle is the smallest number of ranks whose cycle of waits gets a line of its own in the
// table. That two ranks wait for each other is plain from their rows.
const longCycle = 3

// cycle returns a cycle of waits that has at least longCycle ranks: each rank waits for the next,
// and the last for the first. It begins with its lowest rank. It returns nil if there is none.
func (w *Watch) cycle(cell *Snapshot) []int {
	next := map[int][]int{}
	for _, rank := range cell.running() {
		next[rank] = w.awaitedIn(cell, rank)
	}
	return findCycle(next, longCycle)
}

// awaitedIn returns the ranks for which a rank waits, without those that wait in the same collective
// call: they answer each other.
func (w *Watch) awaitedIn(cell *Snapshot, rank int) []int {
	v := w.view(rank)
	if v.manner() != waiting {
		return nil
	}
	var peers []int
	for _, wait := range v.waits {
		for _, peer := range awaited(wait, rank, cell.Pending) {
			o := w.view(peer)
			if !cell.runs(peer) || o.manner() != waiting {
				continue
			}
			inCall := func(other session.Wait) bool { return wait.Call != "" && other.Call == wait.Call }
			if !slices.ContainsFunc(o.waits, inCall) {
				peers = append(peers, peer)
			}
		}
	}
	return peers
}

// findCycle returns a cycle of at least least nodes in a graph, which is given as the successors of
// each node; nil if a search in depth meets none. The cycle begins with its lowest node.
func findCycle(next map[int][]int, least int) []int {
	var path []int         // from where the search began
	at := map[int]int{}    // places in path
	done := map[int]bool{} // nodes that the search has left
	var visit func(node int) []int
	visit = func(node int) []int {
		at[node], path = len(path), append(path, node)
		for _, to := range next[node] {
			if i, isAbove := at[to]; isAbove {
				if ring := path[i:]; len(ring) >= least {
					lowest := slices.Index(ring, slices.Min(ring))
					return slices.Concat(ring[lowest:], ring[:lowest])
				}
			} else if !done[to] {
				if ring := visit(to); ring != nil {
					return ring
				}
			}
		}
		path = path[:len(path)-1]
		delete(at, node)
		done[node] = true
		return nil
	}
	for _, node := range slices.Sorted(maps.Keys(next)) {
		if !done[node] {
			if ring := visit(node); ring != nil {
				return ring
			}
		}
	}
	return nil
}

// describeCycle describes a cycle: "a cycle of 4 waits: rank 0 → 1 → 2 → 3 → 0".
func describeCycle(ranks []int) string {
	const most, ends = 16, 6 // of a long cycle the text has both ends
	var names []string
	for i, rank := range ranks {
		switch {
		case len(ranks) <= most || i < ends || i >= len(ranks)-ends:
			names = append(names, fmt.Sprint(rank))
		case i == ends:
			names = append(names, "…")
		}
	}
	return fmt.Sprintf("a cycle of %d waits: rank %s → %d", len(ranks), strings.Join(names, " → "), ranks[0])
}
