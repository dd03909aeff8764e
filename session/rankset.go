package session

import "slices"

// allRanks returns the ranks of a world of size.
func allRanks(size int) []int {
	ranks := make([]int, size)
	for r := range ranks {
		ranks[r] = r
	}
	return ranks
}

// union merges two lists into an ascending one.
func union(a, b []int) []int {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}

// intersection returns the elements of a that are also in b. a is ascending.
func intersection(a, b []int) []int {
	sorted := union(b, nil)
	return slices.DeleteFunc(slices.Clone(a), func(r int) bool { return !contains(sorted, r) })
}

// difference returns the elements of a that are not in b.
func difference(a, b []int) []int {
	sorted := union(b, nil)
	return slices.DeleteFunc(slices.Clone(a), func(r int) bool { return contains(sorted, r) })
}

// contains reports whether an ascending list has a rank.
func contains(ranks []int, rank int) bool {
	_, found := slices.BinarySearch(ranks, rank)
	return found
}

// filtered returns the ranks for which keep returns true. If it does for all, filtered returns
// ranks itself.
func filtered(ranks []int, keep func(rank int) bool) []int {
	for i, r := range ranks {
		if keep(r) {
			continue
		}
		list := slices.Clone(ranks[:i])
		for _, r := range ranks[i+1:] {
			if keep(r) {
				list = append(list, r)
			}
		}
		return list
	}
	return ranks
}
