//go:build linux && (amd64 || arm64)

package devicepage

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// The tables of this file only ask: whether the cpu device has a header, and whether it refuses a
// text, is found out when the page is made.

// headers are CUDA's, C++'s and other projects' headers that device code includes.
var headers = []string{
	"cuda_runtime.h", "cuda_runtime_api.h", "cuda.h", "cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h",
	"cooperative_groups.h", "cooperative_groups/reduce.h", "cooperative_groups/scan.h", "cooperative_groups/memcpy_async.h",
	"cuda/atomic", "cuda/std/atomic", "cuda/std/type_traits", "cuda/std/limits", "cuda/std/cstdint", "cuda/std/utility",
	"cuda/std/array", "cuda/barrier", "cuda/pipeline", "cuda/ptx",
	"stdint.h", "cstdint", "stddef.h", "cstddef", "stdio.h", "cstdio", "assert.h", "cassert", "math.h", "cmath", "type_traits",
	"limits", "limits.h", "climits", "float.h", "cfloat",
	"string.h", "cstring", "algorithm", "utility", "array",
	"nccl.h", "nccl_device.h", "nvshmem.h", "nvshmemx.h",
	"mma.h", "cuda_pipeline.h", "cudaTypedefs.h", "curand_kernel.h", "device_launch_parameters.h", "sm_60_atomic_functions.h",
	"cub/cub.cuh", "thrust/device_vector.h", "cute/tensor.hpp", "cutlass/cutlass.h",
}

// construct is a piece of device code.
type construct struct{ what, code string }

// constructs are language features that need a GPU, or much of one.
var constructs = []construct{
	{"launches from kernels: `kernel<<<1, 32>>>()`", "other<<<1, 32>>>();"},
	{"textures and surfaces: `tex2D`, `cudaTextureObject_t`", "float f = tex2D<float>(t, 0, 0);"},
	{"tensor-core fragments: `nvcuda::wmma`", "nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> f;"},
	{"thread block clusters: `__cluster_dims__`, `this_cluster()`", "auto c = cooperative_groups::this_cluster();"},
	{"CUB: `cub::BlockReduce`", "cub::BlockReduce<int, 128> r;"},
	{"asynchronous copies: `cuda::memcpy_async`", "cuda::memcpy_async(a, b, 16, barrier);"},
	{"TMA: `cp.async.bulk`", `asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(0), "l"(p), "r"(16), "r"(0) : "memory");`},
	{"matrix instructions: `mma.sync`, `wgmma`", `asm volatile("wgmma.fence.sync.aligned;" ::: "memory");`},
	{"multicast: `multimem.ld_reduce`, `multimem.st`",
		`asm volatile("multimem.st.relaxed.sys.global.f32 [%0], %1;" :: "l"(p), "f"(1.f) : "memory");`},
}

// instructions are the PTX that kernels of communication libraries have in asm statements.
var instructions = []construct{
	{"ld.relaxed, ld.acquire", `unsigned v; asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");`},
	{"st.relaxed, st.release", `asm volatile("st.release.sys.global.u32 [%0], %1;" :: "l"(p), "r"(1) : "memory");`},
	{"ld.volatile, st.volatile", `unsigned v; asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");`},
	{"ld.global.v4, st.global.v4", `unsigned a, b, c, d; asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p) : "memory");`},
	{"ld.global.nc", `unsigned v; asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(v) : "l"(p));`},
	{"red", `asm volatile("red.release.sys.global.add.u32 [%0], %1;" :: "l"(p), "r"(1) : "memory");`},
	{"atom", `unsigned v; asm volatile("atom.acq_rel.sys.global.add.u32 %0, [%1], %2;" : "=r"(v) : "l"(p), "r"(1) : "memory");`},
	{"fence, membar", `asm volatile("fence.acq_rel.sys;" ::: "memory");`},
	{"bar.sync, barrier.sync", `asm volatile("bar.sync 1, 64;" ::: "memory");`},
	{"mov of special registers", `unsigned v; asm volatile("mov.u32 %0, %%laneid;" : "=r"(v));`},
	{"mov of %globaltimer", `unsigned long long v; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(v));`},
	{"nanosleep", `asm volatile("nanosleep.u32 20;");`},
	{"cvta", `unsigned long long v; asm volatile("cvta.to.global.u64 %0, %1;" : "=l"(v) : "l"(p));`},
	{"prefetch", `asm volatile("prefetch.global.L2 [%0];" :: "l"(p));`},
	{"cp.async", `asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(0), "l"(p));`},
	{"griddepcontrol", `asm volatile("griddepcontrol.wait;" ::: "memory");`},
	{"trap, exit", `asm volatile("trap;");`},
}

// refusal asks the cpu device about code in a kernel. It returns "" if the compiler gets it.
func (c construct) refusal() string {
	return refusalOf(fmt.Sprintf("extern \"C\" __global__ void probe(unsigned* p) {\n%s\n}\n", c.code))
}

func refusalOf(text string) string {
	_, err := cpu.Unit(device.Source{Name: "probe", Line: 1, Text: text})
	var refused *device.CompileError
	if errors.As(err, &refused) && len(refused.Diagnostics) > 0 {
		return refused.Diagnostics[0].Text
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// refusedConstructs returns the refused ones by the reason, in order.
func refusedConstructs() (reasons []string, by map[string][]string) {
	by = map[string][]string{}
	for _, c := range constructs {
		why := c.refusal()
		if why == "" {
			continue
		}
		if !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
		by[why] = append(by[why], c.what)
	}
	return reasons, by
}

// whyNoHeader returns the cpu device's message about a header that it does not have.
func whyNoHeader(name string) string {
	why := refusalOf("#include <" + name + ">\nextern \"C\" __global__ void probe(unsigned* p) {}\n")
	if why == "" {
		return "is not there: a compile error"
	}
	return "is refused: " + strings.TrimPrefix(why, "this header is ")
}
