package devices

import (
	"fmt"
	"testing"
)

// TestAssign checks that neighbours share a device if there are fewer devices than ranks.
func TestAssign(t *testing.T) {
	for _, c := range []struct {
		devices, ranks, asked int
		want                  string
	}{
		{1, 1, 1, "[0]"},
		{1, 4, 4, "[0 0 0 0]"},
		{2, 4, 4, "[0 0 1 1]"},
		{2, 3, 3, "[0 0 1]"},
		{3, 4, 4, "[0 0 1 2]"},
		{4, 4, 4, "[0 1 2 3]"},
		{8, 4, 4, "[0 1 2 3]"},
		{3, 8, 8, "[0 0 0 1 1 1 2 2]"},
		{4, 4, 0, "[0 1 2 3]"}, // the number of ranks is not known
		{2, 5, 0, "[0 1 0 1 0]"},
		{2, 4, 2, "[0 1 0 1]"}, // or there are more than that
	} {
		k := Kind{Count: func() int { return c.devices }}
		var got []int
		for r := range c.ranks {
			got = append(got, k.Assign(r, c.asked))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%d ranks of %d on %d devices: got %v, want %s", c.ranks, c.asked, c.devices, got, c.want)
		}
	}
	if got := (&Kind{Emulated: true}).Assign(7, 4); got != 7 {
		t.Errorf("rank 7 of emulated devices gets number %d", got)
	}
}
