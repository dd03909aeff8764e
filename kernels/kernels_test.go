package kernels

import (
	"regexp"
	"strings"
	"testing"
)

var included = regexp.MustCompile(`(?m)^#include "([^"]+)"$`)

// TestIncludes: public headers include public headers only, and no file includes a header that the
// compilers do not get.
func TestIncludes(t *testing.T) {
	check := func(files, allowed []File) {
		names := map[string]bool{}
		for _, f := range allowed {
			names[f.Name] = true
		}
		for _, f := range files {
			for _, m := range included.FindAllStringSubmatch(f.Text, -1) {
				if !names[m[1]] {
					t.Errorf("%s includes %s", f.Name, m[1])
				}
			}
		}
	}
	check(Headers(), Headers())
	// which both devices have
	check(LibraryHeaders(), append([]File{{Name: "stdint.h"}, {Name: "cooperative_groups.h"}, {Name: "cuda/atomic"}}, LibraryHeaders()...))
	check(ToolkitHeaders(), append(append(ToolkitHeaders(), LibraryHeaders()...), Headers()...))
	check(BuiltinHeaders(), BuiltinHeaders())
	check(Files(), BuiltinHeaders())
	if first := Headers()[0].Name; first != "symm.cuh" {
		t.Errorf("the first header is %s", first)
	}
}

func TestSource(t *testing.T) {
	for _, f := range Files() {
		kernel := f.Operation()
		if strings.Contains(f.Text, "SYMM_FOR_DTYPES(") || strings.Contains(f.Text, "SYMM_FOR_REDUCED(") {
			kernel += "_bf16"
		}
		got, ok := Source(kernel, 4)
		if !ok || got.Name != kernel+"-4.cu" || !strings.HasSuffix(got.Text, "#define SYMM_RANKS 4\n#line 1 \""+f.Operation()+".cu\"\n"+f.Text) {
			t.Errorf("the source of %s is %s", kernel, got.Name)
		}
		if only := strings.HasPrefix(got.Text, "#define SYMM_ONLY(M) M(symm::bf16, bf16)\n"); only != strings.HasSuffix(kernel, "_bf16") {
			t.Errorf("the source of %s is for one dtype: %v", kernel, only)
		}
	}
	if f, ok := Source("pull_reduce_f8e4m3", 0); !ok || !strings.HasPrefix(f.Text, "#define SYMM_ONLY(M) M(symm::calculate::f8e4m3, f8e4m3)\n") {
		t.Errorf("the source for 8-bit floats is %s", f.Name)
	}
	for _, kernel := range []string{"", "fill_up", "no_such_kernel_f32", "*"} {
		if f, ok := Source(kernel, 0); ok {
			t.Errorf("%q has the source %s", kernel, f.Name)
		}
	}
}
