//go:build linux && (amd64 || arm64)

package cpu

import (
	"regexp"
	"slices"

	"github.com/symmrepl/symmrepl/kernels"
)

// EmulatorHeaders returns the headers in which the emulator declares what CUDA has without a
// header: cuda_on_cpu.h, and those that it includes.
func EmulatorHeaders() (list []kernels.File) {
	files, err := emulatorHeaders()
	if err != nil {
		panic(err) // they are embedded
	}
	var include func(name string)
	include = func(name string) {
		i := slices.IndexFunc(files, func(f kernels.File) bool { return f.Name == name })
		if i < 0 || slices.Contains(list, files[i]) {
			return
		}
		list = append(list, files[i])
		for _, m := range included.FindAllStringSubmatch(files[i].Text, -1) {
			include(m[1])
		}
	}
	include("cuda_on_cpu.h")
	return list
}

var included = regexp.MustCompile(`(?m)^#include "([^"]+)"`)

// Includes reports whether a snippet can include a header.
func Includes(header string) bool {
	files, err := allHeaders()
	if err != nil {
		panic(err) // they are embedded
	}
	return slices.ContainsFunc(files, func(f kernels.File) bool { return f.Name == header })
}
