// Package rankset has operations on ascending lists of ranks.
package rankset

import "slices"

// All returns the ranks of a world of size.
func All(size int) []int {
	ranks := make([]int, size)
	for r := range ranks {
		ranks[r] = r
	}
	return ranks
}

// Union merges two lists into an ascending one.
func Union(a, b []int) []int {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}

// Intersection returns the elements of a that are also in b. a is ascending.
func Intersection(a, b []int) []int {
	sorted := Union(b, nil)
	return slices.DeleteFunc(slices.Clone(a), func(r int) bool { return !Contains(sorted, r) })
}

// Difference returns the elements of a that are not in b.
func Difference(a, b []int) []int {
	sorted := Union(b, nil)
	return slices.DeleteFunc(slices.Clone(a), func(r int) bool { return Contains(sorted, r) })
}

// Contains reports whether an ascending list has a rank.
func Contains(ranks []int, rank int) bool {
	_, found := slices.BinarySearch(ranks, rank)
	return found
}

// Filter returns the ranks for which keep returns true. If it does for all, filtered returns
// ranks itself.
func Filter(ranks []int, keep func(rank int) bool) []int {
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
