package cuda

import "testing"

// TestPTX: NVRTC compiles the suite's kernels with inline PTX, and those with the headers of other
// projects' kernels. So the text that the cpu device translates is what a GPU runs.
func TestPTX(t *testing.T) {
	c := compilerFor(t, "sm_90")
	ptx, err := kernelTexts("../../symmemtest/ptx_test.go")
	if err != nil || len(ptx) != 4 {
		t.Fatalf("%d texts were found: %v", len(ptx), err)
	}
	others, err := kernelTexts("../../symmemtest/cudatext_test.go")
	if err != nil || len(others) != 2 {
		t.Fatalf("%d texts were found: %v", len(others), err)
	}
	for _, s := range append(ptx, others...) {
		_, unit, unread := snippet(s)
		if unread != nil {
			t.Fatal(unread)
		}
		unit.Headers, unit.StandIns = append(unit.Headers, standIns()...), nil
		compiles(t, c, "sm_90", unit, "")
	}
}
