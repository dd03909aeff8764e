package command

import (
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

func TestDescribeTopology(t *testing.T) {
	for want, topology := range map[string]*session.Topology{
		"":                                nil,
		"cpu: shared memory of this host": {Device: "cpu", Medium: "shared memory of this host"},
		"the only GPU of the host":        {Device: "cuda:0", ID: "GPU-a"},
		"the only GPU of the host\nshared by the ranks 0-3, whose kernels run in turns by time slices": {
			Device: "cuda:0", ID: "GPU-a", Sharers: []int{0, 1, 2, 3}, Manner: "in turns by time slices",
		},
		"GPU 1 of the host (H, GPU-b): NV18, 478 GB/s each way\nGPU 2 of the host (H, GPU-c): SYS": {Device: "cuda:0", ID: "GPU-a",
			Links: []session.Link{
				{Index: 1, Name: "H", ID: "GPU-b", Kind: "NV18", Rate: 478.125}, {Index: 2, Name: "H", ID: "GPU-c", Kind: "SYS"},
			}},
	} {
		if got := describeTopology(topology); got != want {
			t.Errorf("%+v is described as %q, want %q", topology, got, want)
		}
	}
}
