package cuda

import (
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// ncclKernels are those of the suite's cases of NCCL's device API.
func ncclKernels(t *testing.T) []device.Source {
	sources, err := kernelTexts("../../symmemtest/nccl_test.go")
	if err != nil || len(sources) < 5 {
		t.Fatalf("%d texts were found: %v", len(sources), err)
	}
	return sources
}

// TestNCCLKernels: what the suite runs of NCCL's device API compiles for GPUs too.
func TestNCCLKernels(t *testing.T) {
	c := compiler(t)
	for _, s := range ncclKernels(t) {
		found, unit, unread := snippet(s)
		if unread != nil || len(found) == 0 {
			t.Errorf("%s:%d: %d kernels were found: %v", s.Name, s.Line, len(found), unread)
			continue
		}
		if _, err := c.Compile(unit); err != nil {
			t.Errorf("%s:%d: %v", s.Name, s.Line, err)
		}
	}
}
