//go:build linux && (amd64 || arm64)

package cpu

import (
	"regexp"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu/ptx"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// refusals lists constructs outside of inline PTX that a processor cannot run. The C++ compiler
// would report pages of errors.
var refusals = []struct {
	name    string
	pattern *regexp.Regexp
	why     string
}{
	{"launches from device code", regexp.MustCompile(`<<<`),
		"a kernel cannot be launched from device code; call Launch on the compiled kernel instead"},
	{"textures and surfaces", regexp.MustCompile(`\b(texture\s*<|cudaTextureObject_t\b|cudaSurfaceObject_t\b|tex[123]D(Lod|Grad|fetch)?\s*[(<])`),
		"textures and surfaces do not exist on the cpu device; read the memory through a pointer"},
	{"tensor-core fragments", regexp.MustCompile(`\b(wmma|nvcuda)\s*::`),
		"tensor-core fragments do not exist on the cpu device; multiply by fma, or call symm.MatMul from the cell"},
	{"thread block clusters", regexp.MustCompile(`\b__cluster_dims__\b|\bthis_cluster\s*\(|\bcluster_group\b`),
		"thread block clusters do not exist on the cpu device; use one block, or global memory"},
	{"CUB and Thrust", regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*[<"](cub|thrust)/[^>"]*[>"]`),
		"CUB and Thrust are not built in; use cooperative_groups/reduce.h and scan.h, or warp functions such as __shfl_down_sync"},
	{"CUTLASS and CuTe", regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*[<"](cutlass|cute)/[^>"]*[>"]`),
		"CUTLASS and CuTe need tensor cores, which do not exist on the cpu device; call symm.MatMul from the cell"},
	{"cuda::barrier and cuda::pipeline",
		regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*[<"](cuda/barrier|cuda/pipeline|cuda_pipeline\.h)[>"]`),
		"barrier and pipeline objects are for hardware that the cpu device does not have; use __syncthreads(), or cooperative_groups/memcpy_async.h"},
	{"mma.h and cudaTypedefs.h", regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*[<"](mma\.h|cudaTypedefs\.h)[>"]`),
		"this header is for hardware that the cpu device does not have"},
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
