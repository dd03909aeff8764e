package cuda

import (
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/kernels"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/cubin"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// TestToolkitHeaders: what the suite runs of CUDA's headers compiles for GPUs with those that stand in for them, for old and new ones.
func TestToolkitHeaders(t *testing.T) {
	for _, arch := range []string{"sm_80", "sm_100"} {
		c := compilerFor(t, arch)
		sources, err := kernelTexts("../../symmemtest/toolkit_test.go")
		if err != nil || len(sources) < 3 {
			t.Fatalf("%d texts were found: %v", len(sources), err)
		}
		for _, s := range sources {
			_, unit, unread := snippet(s)
			if unread != nil {
				t.Fatal(unread)
			}
			installed := unit // the toolkit's, if there is one
			unit.Headers, unit.StandIns = append(unit.Headers, standIns()...), nil
			for _, u := range []cubin.Unit{unit, installed} {
				compiles(t, c, arch, u, "")
			}
		}
	}
	c, text := compiler(t), ""
	for _, h := range kernels.ToolkitHeaders() {
		text += "#include <" + h.Name + ">\n"
	}
	for body, want := range map[string]string{
		"": "",
		"cooperative_groups::this_grid().sync();": "launch a kernel for each phase",
	} {
		_, unit, _ := snippet(device.Source{Name: "c", Line: 1, Text: text + "__global__ void f() { " + body + " }"})
		unit.Headers, unit.StandIns = append(unit.Headers, standIns()...), nil
		if _, err := c.Compile(unit); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", body, err)
		}
	}
}
