package layout

import (
	"testing"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// TestWorkspaceSize holds a group on GPUs, with the usual signal pad, to the memory that NewGroup
// says it takes.
func TestWorkspaceSize(t *testing.T) {
	for ranks := 1; ranks <= abi.MaxRanks; ranks++ {
		if n := Local(ranks, 9216/(4*ranks), tuning.CUDA).End; n > 128<<20 {
			t.Errorf("the workspace of a group of %d ranks has %d MiB, at most 128 are promised", ranks, n>>20)
		}
	}
}
