package expect

import (
	"math"
	"slices"
	"testing"
)

// TestSame compares numbers that are far apart, special, or at the ends of tolerances.
func TestSame(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	none, tenth, one := (*tolerance)(nil), &tolerance{0.1, 0}, &tolerance{0, 1}
	for _, c := range []struct {
		want, got float64
		within    *tolerance
		same      bool
	}{
		{1, 1, none, true}, {1, math.Nextafter(1, 2), none, false}, {0, math.Copysign(0, -1), none, false}, {nan, -nan, none, true},
		{nan, 1, none, false}, {inf, inf, none, true}, {inf, -inf, none, false},
		{0, math.Copysign(0, -1), &tolerance{}, true}, {10, 11, tenth, true}, {10, 8.9, tenth, false}, {-10, -11, tenth, true}, {0, 1e-9, tenth, false},
		{nan, nan, one, true}, {nan, 0, one, false}, {0, nan, one, false}, {inf, inf, one, true}, {inf, 1e308, tenth, false}, {1, inf, tenth, false},
		{inf, -inf, tenth, false}, {5, 6, one, true}, {5, 6.5, one, false},
	} {
		if same, _ := sameFloats(c.want, c.got, c.within); same != c.same {
			t.Errorf("want %v, got %v within %v: the same is %v", c.want, c.got, c.within, same)
		}
	}
	for _, c := range []struct {
		unsigned  bool
		want, got int64
		within    *tolerance
		same      bool
		by        float64
	}{
		{false, 5, 5, none, true, 0}, {false, 5, 6, none, false, 1}, {false, 5, 6, one, true, 1}, {false, 5, 7, one, false, 2},
		{false, math.MinInt64, math.MaxInt64, one, false, 0x1p64}, {false, math.MaxInt64, math.MinInt64, one, false, 0x1p64},
		{false, math.MaxInt64, math.MaxInt64 - 1, none, false, 1}, {false, -10, -11, tenth, true, 1},
		{true, -1, 0, tenth, false, 0x1p64}, {true, 0, -1, tenth, false, 0x1p64}, {true, -1, -2, one, true, 1},
	} {
		if same, by := sameInts(c.unsigned, c.want, c.got, c.within); same != c.same || by != c.by {
			t.Errorf("want %v, got %v within %v: the same is %v, by %v", c.want, c.got, c.within, same, by)
		}
	}
}

// TestDifference prints differences of each number of elements.
func TestDifference(t *testing.T) {
	for want, d := range map[string]*Difference{
		"rank 0: 1 of 1 element of x is not 2 * y\n  x is 3, want 4": {Name: "x", Formula: "2 * y", Elements: 1, Differ: 1,
			First: []Element{{Want: "4", Got: "3"}}, Most: 1},
		"rank 2: 3 of 9 elements of x are not close to y (rtol 0.5, atol 0)\n  x[0] is NaN, want 4\n  and 2 more": {Name: "x", Formula: "y", Rank: 2,
			Tolerance: "rtol 0.5, atol 0", Elements: 9, Differ: 3, First: []Element{{At: []int{0}, Want: "4", Got: "NaN"}}},
	} {
		if got := d.Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	for i, want := range [][]int{{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 1}, {1, 0, 0}} {
		if got := position(i, []int{3, 2, 2}); !slices.Equal(got, want) {
			t.Errorf("element %d is at %v, want %v", i, got, want)
		}
	}
}
