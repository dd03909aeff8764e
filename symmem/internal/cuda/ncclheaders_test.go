package cuda

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/kernels"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/clib"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/libs"
)

// ncclIncludeVariable names a folder of NCCL's own headers: include of the wheel nvidia-nccl-cu13, of version 2.30 or later.
const ncclIncludeVariable = "SYMMREPL_NCCL_INCLUDE"

// TestNCCLHeaders: what the suite runs with our nccl_device.h compiles with NCCL's too, so that ours has its names and signatures.
func TestNCCLHeaders(t *testing.T) {
	dir := os.Getenv(ncclIncludeVariable)
	if dir == "" {
		t.Skip(ncclIncludeVariable + " names no folder of NCCL's headers; make test-long fetches them")
	}
	found := libs.ThisHost().Find(libs.NVRTC())
	if len(found) == 0 {
		t.Skip("NVRTC was not found: " + libs.NVRTC().Hint)
	}
	nvrtc, err := clib.LoadNVRTC(found[0].Path, libs.Builtins(found[0].Path))
	if err != nil {
		t.Fatal(err)
	}
	headers := ncclHeaders(t, dir)
	options := []string{"--gpu-architecture=sm_90", "--std=c++17", "-default-device", "-diag-suppress=1055", "-D__CUDACC_EXTENDED_LAMBDA__=1", "-DNCCL_OS_LINUX=1", "-DNCCL_GIN_PROXY_ENABLE=1",
		"-DNCCL_GIN_GDAKI_ENABLE=0", "-DNCCL_GIN_GPI_ENABLE=0", "-DNCCL_GIN_EFA_GDA_ENABLE=0", "-DNCCL_DEVICE_PERMIT_EXPERIMENTAL_CODE=1", "--include-path=" + dir}
	compiled := 0
	for _, s := range ncclKernels(t) {
		if strings.Contains(s.Text, "symm::") {
			continue
		}
		compiled++
		text := strings.ReplaceAll(s.Text, "comm.lsaLLA2A", "ncclLLA2AHandle()") // which NCCL's host code gives to kernels
		text = "#undef __host__\n#define __host__\n#include <cuda/atomic>\n" + text
		if _, _, log, err := nvrtc.Compile(clib.Request{Source: text, Name: s.Name, Headers: headers, Options: options}); err != nil {
			t.Errorf("%s:%d: %v\n%s", s.Name, s.Line, err, firstErrors(log))
		}
	}
	if compiled < 5 {
		t.Errorf("%d texts were compiled", compiled)
	}
}

// firstErrors are the first of a log.
func firstErrors(log string) string {
	var lines []string
	for _, l := range strings.Split(log, "\n") {
		if strings.Contains(l, "error") && len(lines) < 8 {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n")
}

// ncclHeaders are what NCCL's headers include and NVRTC has not, and those of NCCL's that it does not take as they are, changed.
func ncclHeaders(t *testing.T, dir string) [][2]string {
	const once = "#pragma once\n"
	const runtime = once + "#ifndef CUDART_VERSION\n#define CUDART_VERSION 13000\n#endif\ntypedef struct CUstream_st* cudaStream_t;\ntypedef struct CUevent_st* cudaEvent_t;\n"
	headers := [][2]string{
		{"stdint.h", stdint}, {"stddef.h", once}, {"stdbool.h", once}, {"limits.h", once + "#define INT_MIN (-2147483647 - 1)\n#define INT_MAX 2147483647\n"},
		{"cuda.h", once + "#define CUDA_VERSION 13000\ntypedef enum { CU_MEM_LOCATION_TYPE_DEVICE = 1, CU_MEM_LOCATION_TYPE_HOST_NUMA = 3 } CUmemLocationType;\n"},
		{"cuda_runtime.h", runtime}, {"cuda_runtime_api.h", runtime}, {"linux/types.h", once}, {"string.h", once}, {"new", once}, {"algorithm", once},
		{"assert.h", once}, {"cassert", once}, {"stdio.h", once}, {"cstddef", once},
		{"type_traits", once + traits},
	}
	for _, h := range builtinHeaders() {
		if strings.HasPrefix(h[0], "symm") || h[0] == "cuda/atomic" {
			headers = append(headers, h)
		}
	}
	headers = append(headers, named(kernels.LibraryHeaders())...)
	for _, h := range standIns() {
		if !strings.HasPrefix(h[0], "cuda_runtime") {
			headers = append(headers, h)
		}
	}
	// NVRTC ignores packed on members of a union, and an array of no elements is none.
	for path, change := range map[string]func(string) string{
		"nccl_device/utility.h": func(s string) string {
			return regexp.MustCompile(`\[sizeof\(T\)\s*/\s*(\w+|sizeof\(\w+\))\]`).ReplaceAllString(s, "[(sizeof(T) + ($1) - 1) / ($1)]")
		},
		"nccl_device/gin/proxy/gin_proxy_device_host_common.h": func(s string) string {
			s = strings.Replace(s, "typedef union {", "#pragma pack(push, 1)\ntypedef union {", 1)
			return strings.Replace(s, "} ncclGinProxyQword_t;", "} ncclGinProxyQword_t;\n#pragma pack(pop)", 1)
		},
	} {
		text, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Base(path)
		for _, name := range []string{path, base, "../" + base, "proxy/" + base, "../gin/proxy/" + base} {
			headers = append(headers, [2]string{name, change(string(text))})
		}
	}
	return headers
}

// traits is what NCCL's headers use of type_traits.
const traits = `namespace std {
template <class T, T v> struct integral_constant { static constexpr T value = v; typedef T value_type; constexpr operator T() const { return v; } };
typedef integral_constant<bool, true> true_type;
typedef integral_constant<bool, false> false_type;
template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <bool b, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <bool b, class T = void> using enable_if_t = typename enable_if<b, T>::type;
template <bool b, class T, class F> struct conditional { typedef T type; };
template <class T, class F> struct conditional<false, T, F> { typedef F type; };
template <bool b, class T, class F> using conditional_t = typename conditional<b, T, F>::type;
}
`
