package watchdog

import (
	"slices"
	"testing"

	"github.com/symmrepl/symmrepl/session/rankset"
)

func TestFindCycle(t *testing.T) {
	ring := map[int][]int{}
	for node := range 1000 {
		ring[node] = []int{(node + 7) % 1000}
	}
	for _, test := range []struct {
		next map[int][]int
		want []int
	}{
		{map[int][]int{}, nil},
		{map[int][]int{0: {1}, 1: {2}}, nil},
		{map[int][]int{0: {1}, 1: {0}}, nil}, // of two
		{map[int][]int{0: {1}, 1: {2}, 2: {3}, 3: {0}}, []int{0, 1, 2, 3}},
		{map[int][]int{0: {3}, 3: {2}, 2: {1}, 1: {0}}, []int{0, 3, 2, 1}},
		{map[int][]int{0: {4}, 4: {7}, 7: {2}, 2: {4}}, []int{2, 4, 7}}, // rank 0 is not in it
		{map[int][]int{0: {1}, 1: {0}, 2: {3}, 3: {4}, 4: {2}}, []int{2, 3, 4}},
		{map[int][]int{0: {1, 2}, 1: {0}, 2: {3}, 3: {0}}, []int{0, 2, 3}},
		{map[int][]int{0: {1, 2}, 1: {3}, 2: {3}, 3: nil}, nil}, // two ways to the same rank
	} {
		if got := findCycle(test.next, longCycle); !slices.Equal(got, test.want) {
			t.Errorf("%v: %v, want %v", test.next, got, test.want)
		}
	}
	if got := findCycle(ring, longCycle); len(got) != 1000 || got[0] != 0 || got[1] != 7 || got[999] != 993 {
		t.Errorf("a ring of 1000: %v", got)
	}
}

func TestDescribeCycle(t *testing.T) {
	if got, want := describeCycle([]int{0, 1, 2, 3}), "a cycle of 4 waits: rank 0 → 1 → 2 → 3 → 0"; got != want {
		t.Error(got)
	}
	const want = "a cycle of 20 waits: rank 0 → 1 → 2 → 3 → 4 → 5 → … → 14 → 15 → 16 → 17 → 18 → 19 → 0"
	if got := describeCycle(rankset.All(20)); got != want {
		t.Error(got)
	}
}
