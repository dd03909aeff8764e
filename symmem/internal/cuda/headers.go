package cuda

import "github.com/symmrepl/symmrepl/kernels"

// stdint is what NVRTC, which has no headers of its own, lacks of the types that CUDA code takes for granted. The 64-bit ones are as
// in CUDA's C++ library for NVRTC.
const stdint = `#pragma once
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef long long intptr_t;
typedef unsigned long long uintptr_t;
`

// snippetHeaders are what a user's snippet can include without a file: symm.cuh, and the C headers that device code
// may name although the compiler has their functions built in. The first includes come ahead of the text.
func snippetHeaders() (headers [][2]string, first []string) {
	headers = [][2]string{{"stdint.h", stdint}, {"cstdint", stdint}}
	for _, name := range []string{"stddef.h", "cstddef", "stdio.h", "cstdio", "assert.h", "cassert", "math.h", "cmath"} {
		headers = append(headers, [2]string{name, ""})
	}
	for _, h := range kernels.Headers() {
		if h.Name == "symm.cuh" {
			headers = append(headers, [2]string{h.Name, h.Text})
		}
	}
	return headers, []string{"stdint.h", "symm.cuh"}
}

// builtinHeaders are what the files of kernels/ include.
func builtinHeaders() [][2]string {
	var headers [][2]string
	for _, h := range kernels.Headers() {
		headers = append(headers, [2]string{h.Name, h.Text})
	}
	return headers
}
