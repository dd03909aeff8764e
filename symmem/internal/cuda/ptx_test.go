package cuda

import "testing"

// TestPTX: the inline PTX of the suite's kernels is PTX: NVRTC assembles it for a GPU. So the text
// that the cpu device translates is what a GPU runs.
func TestPTX(t *testing.T) {
	c := compilerFor(t, "sm_90")
	sources, err := kernelTexts("../../symmemtest/ptx_test.go")
	if err != nil || len(sources) == 0 {
		t.Fatalf("%d texts were found: %v", len(sources), err)
	}
	for _, s := range sources {
		_, unit, unread := snippet(s)
		if unread != nil {
			t.Fatal(unread)
		}
		unit.Headers, unit.StandIns = append(unit.Headers, standIns()...), nil
		compiles(t, c, "sm_90", unit, "")
	}
}
