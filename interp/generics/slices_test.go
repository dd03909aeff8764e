package generics_test

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	ours "github.com/symmrepl/symmrepl/interp/generics/slices"
)

func TestSlices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	t.Run("int", func(t *testing.T) { compareSlices(t, r, func() int { return r.IntN(5) }) })
	t.Run("string", func(t *testing.T) { compareSlices(t, r, func() string { return string(rune('a' + r.IntN(4))) }) })
	floats := []float64{0, math.Copysign(0, -1), 1, -1, math.NaN(), math.Inf(1), math.Inf(-1)}
	t.Run("float64", func(t *testing.T) { compareSlices(t, r, func() float64 { return floats[r.IntN(len(floats))] }) })
}

// change is a function that makes a slice from another, in two implementations.
type change[E any] struct {
	name         string
	ours, theirs func(s []E) []E
}

// ask is a function that computes something from a slice, in two implementations.
type ask[E any] struct {
	name         string
	ours, theirs func(s []E) []any
}

func compareSlices[E cmp.Ordered](t *testing.T, r *rand.Rand, element func() E) {
	for range 1000 {
		s, s2 := sample(r, element), sample(r, element)
		// Indices are sometimes out of range, counts sometimes negative.
		i, j, n, v := r.IntN(len(s)+2), r.IntN(len(s)+2), r.IntN(6)-1, element()
		odd := func(e E) bool { return e < v }
		down := func(a, b E) int { return cmp.Compare(b, a) }
		alike := func(a, b E) bool { return a <= b }
		for _, c := range []change[E]{
			{"Insert", func(s []E) []E { return ours.Insert(s, i, s2...) }, func(s []E) []E { return slices.Insert(s, i, s2...) }},
			{"Insert of itself", func(s []E) []E { return ours.Insert(s, i, s[:cap(s)]...) }, func(s []E) []E { return slices.Insert(s, i, s[:cap(s)]...) }},
			{"Insert of a part", func(s []E) []E { return ours.Insert(s, i, s[j:]...) }, func(s []E) []E { return slices.Insert(s, i, s[j:]...) }},
			{"Delete", func(s []E) []E { return ours.Delete(s, i, j) }, func(s []E) []E { return slices.Delete(s, i, j) }},
			{"DeleteFunc", func(s []E) []E { return ours.DeleteFunc(s, odd) }, func(s []E) []E { return slices.DeleteFunc(s, odd) }},
			{"Replace", func(s []E) []E { return ours.Replace(s, i, j, s2...) }, func(s []E) []E { return slices.Replace(s, i, j, s2...) }},
			{"Replace by a part", func(s []E) []E { return ours.Replace(s, i, j, s[i:]...) }, func(s []E) []E { return slices.Replace(s, i, j, s[i:]...) }},
			{"Clone", func(s []E) []E { return ours.Clone(s) }, func(s []E) []E { return slices.Clone(s) }},
			{"Compact", func(s []E) []E { return ours.Compact(s) }, func(s []E) []E { return slices.Compact(s) }},
			{"CompactFunc", func(s []E) []E { return ours.CompactFunc(s, alike) }, func(s []E) []E { return slices.CompactFunc(s, alike) }},
			{"Grow", func(s []E) []E { return ours.Grow(s, n) }, func(s []E) []E { return slices.Grow(s, n) }},
			{"Clip", func(s []E) []E { return ours.Clip(s) }, func(s []E) []E { return slices.Clip(s) }},
			{"Concat", func(s []E) []E { return ours.Concat(s, s2, s) }, func(s []E) []E { return slices.Concat(s, s2, s) }},
			{"Repeat", func(s []E) []E { return ours.Repeat(s, n) }, func(s []E) []E { return slices.Repeat(s, n) }},
			{"Reverse", func(s []E) []E { ours.Reverse(s); return s }, func(s []E) []E { slices.Reverse(s); return s }},
			{"Sort", func(s []E) []E { ours.Sort(s); return s }, func(s []E) []E { slices.Sort(s); return s }},
			{"SortFunc", func(s []E) []E { ours.SortFunc(s, down); return s }, func(s []E) []E { slices.SortFunc(s, down); return s }},
			{"SortStableFunc", func(s []E) []E { ours.SortStableFunc(s, down); return s }, func(s []E) []E { slices.SortStableFunc(s, down); return s }},
			{"AppendSeq", func(s []E) []E { return ours.AppendSeq(s, slices.Values(s2)) }, func(s []E) []E { return slices.AppendSeq(s, slices.Values(s2)) }},
			{"Collect", func(s []E) []E { return ours.Collect(slices.Values(s)) }, func(s []E) []E { return slices.Collect(slices.Values(s)) }},
			{"Sorted", func(s []E) []E { return ours.Sorted(ours.Values(s)) }, func(s []E) []E { return slices.Sorted(slices.Values(s)) }},
			{"SortedFunc", func(s []E) []E { return ours.SortedFunc(ours.Values(s), down) },
				func(s []E) []E { return slices.SortedFunc(slices.Values(s), down) }},
			{"SortedStableFunc", func(s []E) []E { return ours.SortedStableFunc(ours.Values(s), down) },
				func(s []E) []E { return slices.SortedStableFunc(slices.Values(s), down) }},
		} {
			run := func(f func([]E) []E) func() []any {
				s := copied(s)
				return func() []any { out := f(s); return []any{whole(out), whole(s)} }
			}
			same(t, fmt.Sprintf("%s of %s, %d, %d, %d, %s", c.name, whole(s), i, j, n, whole(s2)), run(c.ours), run(c.theirs))
		}
		sorted := slices.Sorted(slices.Values(s))
		up := func(e, target E) int { return cmp.Compare(e, target) }
		for _, c := range []ask[E]{
			{"Equal", func(s []E) []any { return []any{ours.Equal(s, s2), ours.Equal(s, s)} },
				func(s []E) []any { return []any{slices.Equal(s, s2), slices.Equal(s, s)} }},
			{"EqualFunc", func(s []E) []any { return []any{ours.EqualFunc(s, s2, alike), ours.EqualFunc(s, s, alike)} },
				func(s []E) []any { return []any{slices.EqualFunc(s, s2, alike), slices.EqualFunc(s, s, alike)} }},
			{"Compare", func(s []E) []any { return []any{ours.Compare(s, s2), ours.Compare(s, s)} },
				func(s []E) []any { return []any{slices.Compare(s, s2), slices.Compare(s, s)} }},
			{"CompareFunc", func(s []E) []any { return []any{ours.CompareFunc(s, s2, down)} },
				func(s []E) []any { return []any{slices.CompareFunc(s, s2, down)} }},
			{"Index", func(s []E) []any { return []any{ours.Index(s, v), ours.Contains(s, v)} },
				func(s []E) []any { return []any{slices.Index(s, v), slices.Contains(s, v)} }},
			{"IndexFunc", func(s []E) []any { return []any{ours.IndexFunc(s, odd), ours.ContainsFunc(s, odd)} },
				func(s []E) []any { return []any{slices.IndexFunc(s, odd), slices.ContainsFunc(s, odd)} }},
			{"IsSorted", func(s []E) []any { return []any{ours.IsSorted(s), ours.IsSorted(sorted)} },
				func(s []E) []any { return []any{slices.IsSorted(s), slices.IsSorted(sorted)} }},
			{"IsSortedFunc", func(s []E) []any { return []any{ours.IsSortedFunc(s, down)} }, func(s []E) []any { return []any{slices.IsSortedFunc(s, down)} }},
			{"Min", func(s []E) []any { return []any{fmt.Sprint(ours.Min(s))} }, func(s []E) []any { return []any{fmt.Sprint(slices.Min(s))} }},
			{"Max", func(s []E) []any { return []any{fmt.Sprint(ours.Max(s))} }, func(s []E) []any { return []any{fmt.Sprint(slices.Max(s))} }},
			{"MinFunc", func(s []E) []any { return []any{fmt.Sprint(ours.MinFunc(s, down))} },
				func(s []E) []any { return []any{fmt.Sprint(slices.MinFunc(s, down))} }},
			{"MaxFunc", func(s []E) []any { return []any{fmt.Sprint(ours.MaxFunc(s, down))} },
				func(s []E) []any { return []any{fmt.Sprint(slices.MaxFunc(s, down))} }},
			{"BinarySearch", func([]E) []any { at, ok := ours.BinarySearch(sorted, v); return []any{at, ok} },
				func([]E) []any { at, ok := slices.BinarySearch(sorted, v); return []any{at, ok} }},
			{"BinarySearchFunc", func([]E) []any { at, ok := ours.BinarySearchFunc(sorted, v, up); return []any{at, ok} },
				func([]E) []any { at, ok := slices.BinarySearchFunc(sorted, v, up); return []any{at, ok} }},
			{"All", func(s []E) []any { return first2(ours.All(s), n) }, func(s []E) []any { return first2(slices.All(s), n) }},
			{"Backward", func(s []E) []any { return first2(ours.Backward(s), n) }, func(s []E) []any { return first2(slices.Backward(s), n) }},
			{"Values", func(s []E) []any { return first(ours.Values(s), n) }, func(s []E) []any { return first(slices.Values(s), n) }},
			{"Chunk", func(s []E) []any { return parts(ours.Chunk(s, n)) }, func(s []E) []any { return parts(slices.Chunk(s, n)) }},
		} {
			same(t, fmt.Sprintf("%s of %s, %v, %d, %s", c.name, whole(s), v, n, whole(s2)), func() []any { return c.ours(s) },
				func() []any { return c.theirs(s) })
		}
	}
}

// first returns the first n values of a sequence.
func first[E any](seq iter.Seq[E], n int) []any {
	var out []any
	for v := range seq {
		if len(out) >= n {
			break
		}
		out = append(out, fmt.Sprint(v))
	}
	return out
}

func first2[K, V any](seq iter.Seq2[K, V], n int) []any {
	return first(func(yield func([2]any) bool) {
		for k, v := range seq {
			if !yield([2]any{k, v}) {
				return
			}
		}
	}, n)
}

func parts[E any](seq iter.Seq[[]E]) []any {
	var out []any
	for s := range seq {
		out = append(out, whole(s))
	}
	return out
}

// TestSortUnstable checks that equal elements end up in the same order as with the standard
// library.
func TestSortUnstable(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		s := make([][2]int, r.IntN(500))
		for i := range s {
			s[i] = [2]int{r.IntN(10), i}
		}
		want := slices.Clone(s)
		by := func(a, b [2]int) int { return a[0] - b[0] }
		ours.SortFunc(s, by)
		slices.SortFunc(want, by)
		if !slices.Equal(s, want) {
			t.Fatalf("sorted are %v, not %v", s, want)
		}
	}
}

// TestSortOfEveryKind sorts slices of a named type for each ordered type.
func TestSortOfEveryKind(t *testing.T) {
	sortKind[int](t)
	sortKind[int8](t)
	sortKind[int16](t)
	sortKind[int32](t)
	sortKind[int64](t)
	sortKind[uint](t)
	sortKind[uint8](t)
	sortKind[uint16](t)
	sortKind[uint32](t)
	sortKind[uint64](t)
	sortKind[uintptr](t)
	sortKind[float32](t)
	sortKind[float64](t)
	type name string
	s := []name{"b", "", "a"}
	ours.Sort(s)
	if !slices.Equal(s, []name{"", "a", "b"}) {
		t.Errorf("sorted are %q", s)
	}
}

func sortKind[N int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64 | uintptr | float32 | float64](t *testing.T) {
	s := []N{3, 100, 2, 5, 1}
	ours.Sort(s)
	if !slices.Equal(s, []N{1, 2, 3, 5, 100}) {
		t.Errorf("sorted %T is %v", s, s)
	}
	ours.Sort(s[:0])
}

func TestConcatOfNothing(t *testing.T) {
	if s := ours.Concat[[]int](); s != nil {
		t.Errorf("it is %#v, not nil", s)
	}
	if s := ours.Clone([]int{}); s == nil {
		t.Error("the clone of an empty slice is nil")
	}
}
