package slices

import (
	"cmp"
	"sort"

	"github.com/symmrepl/symmrepl/interp/generics/compiled"
)

// Sort sorts x in ascending order. NaNs come first.
func Sort[S ~[]E, E cmp.Ordered](x S) { compiled.Sort(x) }

// SortFunc sorts x in the order of cmp. Elements that are equal may change places.
func SortFunc[S ~[]E, E any](x S, cmp func(a, b E) int) {
	sort.Slice(x, func(i, j int) bool { return cmp(x[i], x[j]) < 0 })
}

// SortStableFunc sorts x in the order of cmp and keeps the order of elements that are equal.
func SortStableFunc[S ~[]E, E any](x S, cmp func(a, b E) int) {
	sort.SliceStable(x, func(i, j int) bool { return cmp(x[i], x[j]) < 0 })
}

// IsSorted reports whether x is in ascending order.
func IsSorted[S ~[]E, E cmp.Ordered](x S) bool {
	for i := len(x) - 1; i > 0; i-- {
		if cmp.Less(x[i], x[i-1]) {
			return false
		}
	}
	return true
}

// IsSortedFunc reports whether x is in the order of cmp.
func IsSortedFunc[S ~[]E, E any](x S, cmp func(a, b E) int) bool {
	for i := len(x) - 1; i > 0; i-- {
		if cmp(x[i], x[i-1]) < 0 {
			return false
		}
	}
	return true
}

// Min is the least element; a NaN if there is one. It panics if x is empty.
func Min[S ~[]E, E cmp.Ordered](x S) E {
	if len(x) < 1 {
		panic("slices.Min: empty list")
	}
	m := x[0]
	for i := 1; i < len(x); i++ {
		m = min(m, x[i])
	}
	return m
}

// MinFunc is the first of the least elements in the order of cmp. It panics if x is empty.
func MinFunc[S ~[]E, E any](x S, cmp func(a, b E) int) E {
	if len(x) < 1 {
		panic("slices.MinFunc: empty list")
	}
	m := x[0]
	for i := 1; i < len(x); i++ {
		if cmp(x[i], m) < 0 {
			m = x[i]
		}
	}
	return m
}

// Max is the greatest element; a NaN if there is one. It panics if x is empty.
func Max[S ~[]E, E cmp.Ordered](x S) E {
	if len(x) < 1 {
		panic("slices.Max: empty list")
	}
	m := x[0]
	for i := 1; i < len(x); i++ {
		m = max(m, x[i])
	}
	return m
}

// MaxFunc is the first of the greatest elements in the order of cmp. It panics if x is empty.
func MaxFunc[S ~[]E, E any](x S, cmp func(a, b E) int) E {
	if len(x) < 1 {
		panic("slices.MaxFunc: empty list")
	}
	m := x[0]
	for i := 1; i < len(x); i++ {
		if cmp(x[i], m) > 0 {
			m = x[i]
		}
	}
	return m
}

// BinarySearch returns the index of target in the sorted x, or the index at which it would be, and
// reports whether it is there.
func BinarySearch[S ~[]E, E cmp.Ordered](x S, target E) (int, bool) {
	from, to := 0, len(x)
	for from < to {
		if mid := int(uint(from+to) >> 1); cmp.Less(x[mid], target) {
			from = mid + 1
		} else {
			to = mid
		}
	}
	return from, from < len(x) && cmp.Compare(x[from], target) == 0
}

// BinarySearchFunc is like BinarySearch in the order of cmp.
func BinarySearchFunc[S ~[]E, E, T any](x S, target T, cmp func(E, T) int) (int, bool) {
	from, to := 0, len(x)
	for from < to {
		if mid := int(uint(from+to) >> 1); cmp(x[mid], target) < 0 {
			from = mid + 1
		} else {
			to = mid
		}
	}
	return from, from < len(x) && cmp(x[from], target) == 0
}
