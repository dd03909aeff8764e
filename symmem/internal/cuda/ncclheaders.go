package cuda

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/kernels"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/cubin"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/libs"
)

// NCCL's own device headers
//
// A snippet can be compiled with the nccl_device.h that was installed with the library, for an
// ncclDevComm made by the library. The headers are read from their folder. NVRTC also gets the C
// and CUDA headers that they include, and changed versions of some of NCCL's headers, because NVRTC
// accepts less than nvcc.

// ncclHeaders are the headers of one version.
type ncclHeaders struct {
	folder  string
	state   string // a text that changes when the files change
	changed [][2]string
}

// findNCCLHeaders finds the headers of a library, which must have its version.
func findNCCLHeaders(host libs.Host, library string, version int) (*ncclHeaders, error) {
	folder := host.HeadersOf(library, "nccl_device.h")
	if folder == "" {
		return nil, fmt.Errorf("no nccl_device.h goes with %s", library)
	}
	h, found, err := readNCCLHeaders(folder)
	if err == nil && found != version {
		err = fmt.Errorf("the headers in %s are those of NCCL %s", folder, ncclVersion(found))
	}
	return h, err
}

// ncclVersionCode matches the version in nccl.h.
var ncclVersionCode = regexp.MustCompile(`(?m)^#define NCCL_VERSION_CODE (\d+)`)

// readNCCLHeaders reads the headers in a folder, and returns their version.
func readNCCLHeaders(folder string) (*ncclHeaders, int, error) {
	main, err := os.ReadFile(filepath.Join(folder, "nccl.h"))
	if err != nil {
		return nil, 0, err
	}
	version := 0
	if m := ncclVersionCode.FindSubmatch(main); m != nil {
		fmt.Sscan(string(m[1]), &version)
	}
	h := &ncclHeaders{folder: folder, state: cubin.Identity(filepath.Join(folder, "nccl.h"))}
	err = filepath.WalkDir(filepath.Join(folder, "nccl_device"), func(path string, _ fs.DirEntry, err error) error {
		h.state += "\n" + cubin.Identity(path)
		return err
	})
	for _, c := range ncclChanges {
		text, failed := os.ReadFile(filepath.Join(folder, c.path))
		if failed != nil {
			continue
		}
		whole := quotedInclude.ReplaceAllStringFunc(string(text), func(s string) string { // it has no place of its own any more
			path := filepath.Join(filepath.Dir(c.path), quotedInclude.FindStringSubmatch(s)[1])
			if _, err := os.Stat(filepath.Join(folder, path)); err != nil {
				return s
			}
			return "#include \"" + path + "\""
		})
		for _, name := range append(c.also, c.path) {
			h.changed = append(h.changed, [2]string{name, c.change(whole)})
		}
	}
	return h, version, err
}

// ncclChanges are changes to headers that NVRTC does not accept: it ignores packed on members of a
// union, it has no arrays without elements, and a lambda must not have __device__. Besides, if a
// barrier asks for multimem and the communicator has none, the changed header does without it, like
// our headers, instead of storing to address 0. Files that a version does not have are left out.
var ncclChanges = []struct {
	path   string
	also   []string // the names by which other headers include it
	change func(string) string
}{
	{"nccl_device/utility.h", []string{"utility.h", "../utility.h"},
		func(s string) string { return ncclParts.ReplaceAllString(s, "[(sizeof(T) + ($1) - 1) / ($1)]") }},
	{"nccl_device/impl/reduce_copy__funcs.h", nil, undecorated},
	{"nccl_device/impl/reduce_copy__impl.h", []string{"reduce_copy__impl.h"}, undecorated},
	{"nccl_device/impl/lsa_barrier__funcs.h", []string{"lsa_barrier__funcs.h"}, func(s string) string {
		return ncclMultimem.ReplaceAllString(s, "$1 && mmHandle.mcBasePtr != nullptr,")
	}},
	{"nccl_device/gin/proxy/gin_proxy_device_host_common.h", []string{"gin_proxy_device_host_common.h"}, func(s string) string {
		s = strings.Replace(s, "typedef union {", "#pragma pack(push, 1)\ntypedef union {", 1)
		return strings.Replace(s, "} ncclGinProxyQword_t;", "} ncclGinProxyQword_t;\n#pragma pack(pop)", 1)
	}},
}

// undecorated removes __device__ from lambdas; with NVRTC all functions are device functions.
func undecorated(s string) string { return ncclLambda.ReplaceAllString(s, "[$1](") }

var ncclLambda = regexp.MustCompile(`\[([=&])\]\s*__device__\s*\(`)

// ncclMultimem matches the argument alone on its line, which occurs only in the session's
// initialisers.
var ncclMultimem = regexp.MustCompile(`(?m)^(\s*multimem),$`)

var quotedInclude = regexp.MustCompile(`#include "([^"]+)"`)

var ncclParts = regexp.MustCompile(`\[sizeof\(T\)\s*/\s*(\w+|sizeof\(\w+\))\]`)

// use makes a snippet's unit include these headers instead of ours.
func (h *ncclHeaders) use(unit *cubin.Unit) {
	const once = "#pragma once\n"
	const runtime = once + "#ifndef CUDART_VERSION\n#define CUDART_VERSION 13000\n#endif\ntypedef struct CUstream_st* cudaStream_t;\ntypedef struct CUevent_st* cudaEvent_t;\n"
	unit.Headers = [][2]string{
		{"stdbool.h", once}, {"limits.h", once + "#define INT_MIN (-2147483647 - 1)\n#define INT_MAX 2147483647\n"},
		{"cuda.h", once + "#define CUDA_VERSION 13000\ntypedef enum { CU_MEM_LOCATION_TYPE_DEVICE = 1, CU_MEM_LOCATION_TYPE_HOST_NUMA = 3 } CUmemLocationType;\n"},
		{"cuda_runtime.h", runtime}, {"cuda_runtime_api.h", runtime}, {"linux/types.h", once}, {"string.h", once}, {"new", once},
		{ncclFirst, once + "#undef __host__\n#define __host__\n#include <cuda/atomic>\n"},
	}
	for _, f := range kernels.CHeaders() {
		unit.Headers = append(unit.Headers, [2]string{f.Name, once + f.Text})
	}
	for _, f := range kernels.Headers() {
		if strings.HasPrefix(f.Name, "symm") || strings.HasPrefix(f.Name, "cuda/") {
			unit.Headers = append(unit.Headers, [2]string{f.Name, f.Text})
		}
	}
	runtimes := func(h [2]string) bool { return strings.HasPrefix(h[0], "cuda_runtime") } // those above are used
	unit.Headers = slices.Concat(unit.Headers, slices.DeleteFunc(named(kernels.LibraryHeaders()), runtimes), h.changed)
	unit.StandIns = slices.DeleteFunc(unit.StandIns, runtimes)
	unit.Includes = append(unit.Includes, ncclFirst)
	unit.Options = append(slices.Clip(unit.Options), "-default-device", "-diag-suppress=1055", "-D__CUDACC_EXTENDED_LAMBDA__=1",
		"-DNCCL_OS_LINUX=1", "-DNCCL_GIN_PROXY_ENABLE=1", "-DNCCL_GIN_GDAKI_ENABLE=0",
		"-DNCCL_GIN_GPI_ENABLE=0", "-DNCCL_GIN_EFA_GDA_ENABLE=0", "-DNCCL_DEVICE_PERMIT_EXPERIMENTAL_CODE=1", "--include-path="+h.folder)
	unit.State = h.state
}

// ncclFirst is a header that is included ahead of NCCL's.
const ncclFirst = "ahead_of_nccl.h"
