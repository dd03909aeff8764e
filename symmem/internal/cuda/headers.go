package cuda

import (
	"slices"

	"github.com/symmrepl/symmrepl/kernels"
)

// stdint declares integer types that CUDA code expects and that NVRTC, which has no headers of its
// own, lacks. The 64-bit types are as in CUDA's C++ library for NVRTC.
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

// snippetHeaders returns the headers that a user's snippet can include without a file: the public
// headers of package kernels and C's headers. The headers named in first are included ahead of the
// text.
func snippetHeaders() (headers [][2]string, first []string) {
	for _, name := range kernels.CHeaders() {
		text := ""
		if name == "stdint.h" {
			text = stdint
		}
		headers = append(headers, [2]string{name, text})
	}
	headers = slices.Concat(headers, named(kernels.Headers()), named(kernels.LibraryHeaders()))
	return headers, []string{"stdint.h", "symm.cuh"}
}

// standIns returns headers that a snippet can include if CUDA's toolkit is not installed.
func standIns() [][2]string { return named(kernels.ToolkitHeaders()) }

// builtinHeaders returns the headers that the operations of package kernels include.
func builtinHeaders() [][2]string { return named(kernels.BuiltinHeaders()) }

func named(files []kernels.File) [][2]string {
	var headers [][2]string
	for _, f := range files {
		headers = append(headers, [2]string{f.Name, f.Text})
	}
	return headers
}
