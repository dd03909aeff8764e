package symmem

import "testing"

// NVSHMEM is a way of calls of handles if it can do all of them, on all ranks.
func TestReach(t *testing.T) {
	for name, c := range map[string]struct {
		ranks [][]bool // of each rank, whether NVSHMEM can do each call
		want  bool
	}{
		"no call":           {[][]bool{{}, {}}, false},
		"all":               {[][]bool{{true, true}, {true}}, true},
		"of one rank":       {[][]bool{{true}, {}}, true},
		"not all":           {[][]bool{{true, false}, {true}}, false},
		"not all of one":    {[][]bool{{true}, {false, true}}, false},
		"none can go by it": {[][]bool{{false}, {false}}, false},
	} {
		var all []reach
		for _, calls := range c.ranks {
			p := &comparing{learning: true}
			for _, can := range calls {
				if p.heapCall(can) {
					t.Errorf("%s: a call goes by NVSHMEM while the ways are learnt", name)
				}
			}
			all = append(all, p.heap)
		}
		if got := agreed(all); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	forced := &comparing{forced: variant{via: ViaNVSHMEM}}
	if !forced.heapCall(true) || forced.heapCall(false) || (&comparing{}).heapCall(true) || forced.heap != (reach{}) {
		t.Error("calls go by NVSHMEM where they should not, or not where they should")
	}
}
