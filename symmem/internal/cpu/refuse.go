//go:build linux && amd64

package cpu

import (
	"regexp"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu/ptx"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// refusals lists constructs that a processor cannot run. The C++ compiler would report pages of
// errors.
var refusals = []struct {
	pattern *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`<<<`), "a kernel cannot be launched from device code; call Launch on the compiled kernel instead"},
	{regexp.MustCompile(`\b(texture\s*<|cudaTextureObject_t\b|cudaSurfaceObject_t\b|tex[123]D(Lod|Grad|fetch)?\s*[(<])`), "textures and surfaces do not exist on the cpu device"},
	{regexp.MustCompile(`\b(wmma|nvcuda)\s*::`), "tensor-core fragments do not exist on the cpu device"},
	{regexp.MustCompile(`\b__cluster_dims__\b|\bthis_cluster\s*\(|\bcluster_group\b`), "thread block clusters do not exist on the cpu device"},
	{regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*[<"](mma\.h|cuda/barrier|cuda/pipeline|cuda_pipeline\.h|cudaTypedefs\.h)[>"]`), "this header is for hardware that the cpu device does not have"},
}

// refuse searches for refusals outside of comments, strings and code that is not for the cpu
// device. The error is a *device.CompileError.
func refuse(src device.Source) error {
	text := cudalex.Blank(src.Text, onCPU)
	var found []device.Diagnostic
	for _, r := range refusals {
		for _, at := range r.pattern.FindAllStringIndex(text, -1) {
			start := at[0] + len(text[at[0]:at[1]]) - len(strings.TrimLeft(text[at[0]:at[1]], " \t\n"))
			line := 1 + strings.Count(text[:start], "\n")
			column := start - strings.LastIndexByte(text[:start], '\n')
			found = append(found, device.Diagnostic{Line: line, Column: column, Text: r.why})
		}
	}
	_, _, malformed := ptx.Rewrite(src.Text, onCPU)
	for _, m := range malformed {
		found = append(found, device.Diagnostic{Line: m.Line, Column: m.Column, Text: m.Why})
	}
	if found == nil {
		return nil
	}
	return compileError(src, found...)
}

// onCPU returns the truth of a condition in a snippet on the cpu device, as far as it is known.
func onCPU(condition string) cudalex.Truth {
	switch condition {
	case "defined(SYMM_CPU)", "SYMM_CPU":
		return cudalex.True
	case "!defined(SYMM_CPU)", "!SYMM_CPU":
		return cudalex.False
	}
	return cudalex.Unknown
}
