package cuda

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// ncclIncludeVariable is an environment variable with folders of NCCL's own headers, of several
// versions: include of the wheel nvidia-nccl-cu13.
const ncclIncludeVariable = "SYMMREPL_NCCL_INCLUDE"

// ncclSince are names that kernels of the suite use and that older versions of NCCL lack, with the
// first version.
var ncclSince = []struct {
	name  string
	since int
}{
	{"ncclCoopAny", 22907}, {"VASignal", 22907}, {"ncclLsaReduceSum", 22907}, {"memory_order_acq_rel, cycles)", 23003},
	{"GIN_RESOURCE_SHARING", 23003}, {"ncclGinRequest", 23003}, {"ncclTimeout", 23003}, {"!= ncclSuccess", 23003},
	{"WeakSignal", 23005}, {"StrongSignal", 23005}, {"FenceLevel::None", 23005}, {"FenceLevel::Put", 23005}, {"1000000ull)", 23102},
	{"ncclGin_None{}, cycles", 23102},
}

// TestNCCLHeaders: the suite's kernels with our nccl_device.h compile with NCCL's too, so our
// header has the same names and signatures.
func TestNCCLHeaders(t *testing.T) {
	folders := slices.DeleteFunc(filepath.SplitList(os.Getenv(ncclIncludeVariable)), func(s string) bool { return s == "" })
	if len(folders) == 0 {
		t.Skip(ncclIncludeVariable + " names no folder of NCCL's headers; make test-long fetches them")
	}
	c := compilerFor(t, "sm_90")
	for _, folder := range folders {
		h, version, err := readNCCLHeaders(folder)
		must(t, err)
		t.Run(ncclVersion(version), func(t *testing.T) {
			for _, f := range h.changed {
				if strings.Contains(f[0], "lsa_barrier__funcs.h") && strings.Count(f[1], "multimem && mmHandle.mcBasePtr != nullptr,") != 1 {
					t.Errorf("barriers of %s may ask for multimem where there is none", f[0])
				}
			}
			compiled := 0
		texts:
			for _, s := range ncclKernels(t) {
				if strings.Contains(s.Text, "symm::") {
					continue // only our headers have it
				}
				for _, n := range ncclSince {
					if strings.Contains(s.Text, n.name) && version < n.since {
						continue texts
					}
				}
				compiled++
				s.Text = strings.ReplaceAll(s.Text, "comm.lsaLLA2A", "ncclLLA2AHandle()") // NCCL's host code passes it to kernels
				_, unit, unread := snippet(s)
				if unread != nil {
					t.Fatal(unread)
				}
				h.use(&unit)
				var wrong *device.CompileError
				if _, err := c.Compile(unit); errors.As(err, &wrong) {
					t.Errorf("%s:%d: %v\n%s", s.Name, s.Line, err, firstErrors(wrong.Log))
				} else if err != nil {
					t.Error(err)
				}
			}
			if compiled < 5 {
				t.Errorf("%d texts were compiled", compiled)
			}
			t.Logf("%d texts were compiled", compiled)
		})
	}
}

// firstErrors returns the first errors of a log.
func firstErrors(log string) string {
	var lines []string
	for _, l := range strings.Split(log, "\n") {
		if strings.Contains(l, "error") && len(lines) < 8 {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n")
}
