package cuda

import (
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// ncclKernels are those of the suite's cases of NCCL's device API.
func ncclKernels(t *testing.T) []device.Source {
	var all []device.Source
	for file, least := range map[string]int{"nccl_test.go": 5, "ncclcopy_test.go": 1, "ncclfirst_test.go": 1, "ncclnames_test.go": 1} {
		sources, err := kernelTexts("../../symmemtest/" + file)
		if err != nil || len(sources) < least {
			t.Fatalf("%d texts were found in %s: %v", len(sources), file, err)
		}
		all = append(all, sources...)
	}
	return all
}

// TestNCCLKernels: what the suite runs of NCCL's device API compiles for GPUs too.
func TestNCCLKernels(t *testing.T) {
	for _, arch := range []string{"sm_90", "sm_100"} {
		c := compilerFor(t, arch)
		for _, s := range ncclKernels(t) {
			if arch != "sm_90" && s.Name != "ncclcopy_test.go" {
				continue // what differs is in the latter
			}
			found, unit, unread := snippet(s)
			if unread != nil || len(found) == 0 {
				t.Errorf("%s:%d: %d kernels were found: %v", s.Name, s.Line, len(found), unread)
				continue
			}
			compiles(t, c, arch, unit, "")
		}
	}
}
