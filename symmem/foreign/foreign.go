// Package foreign compiles kernels for programs that do not use package symmem: programs that are
// exported to C++, and programs of Python.
package foreign

import (
	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Cubin compiles a text of kernels for an architecture such as "sm_90", by NVRTC, which needs no
// GPU. The text may use symm.cuh. An error is one of the compiler, or says that there is no NVRTC.
func Cubin(name, text, arch string, instances ...string) ([]byte, error) {
	return cuda.Cubin(device.Source{Name: name, Line: 1, Text: text, Instances: instances}, arch)
}

// Unit returns the C++ of a text of kernels for the emulated device, and Flags how g++ compiles it.
func Unit(name, text string, instances ...string) (string, error) {
	return cpu.Unit(device.Source{Name: name, Line: 1, Text: text, Instances: instances})
}

// Flags are the flags with which g++ makes a shared object of a unit.
func Flags() string { return cpu.Flags() }
