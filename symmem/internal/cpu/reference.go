//go:build linux && amd64

package cpu

import (
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/kernels"
)

// EmulatorHeaders returns the headers in which the emulator declares what CUDA has without a
// header. The first one includes the others.
func EmulatorHeaders() []kernels.File {
	const first = "cuda_on_cpu.h"
	files, err := emulatorHeaders()
	if err != nil {
		panic(err) // they are embedded
	}
	files = slices.DeleteFunc(files, func(f kernels.File) bool { return !strings.HasSuffix(f.Name, ".h") })
	slices.SortStableFunc(files, func(a, b kernels.File) int {
		switch first {
		case a.Name:
			return -1
		case b.Name:
			return 1
		}
		return 0
	})
	return files
}

// Includes reports whether a snippet can include a header.
func Includes(header string) bool {
	files, err := allHeaders()
	if err != nil {
		panic(err) // they are embedded
	}
	return slices.ContainsFunc(files, func(f kernels.File) bool { return f.Name == header })
}
