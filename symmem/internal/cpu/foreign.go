//go:build linux && (amd64 || arm64)

package cpu

import (
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Unit returns the C++ of a snippet for the emulated device: what a compiler makes a shared object
// of, with Flags, the headers of package emu and those of package kernels, and emu_shared.S among
// the linked files. A snippet with inline PTX needs the compiler, too, whose preprocessor is run.
func Unit(src device.Source) (string, error) {
	launchable, err := launchableKernels(src)
	if err != nil {
		return "", err
	}
	u := translationUnit(src.Text, launchable)
	if err := (&compiler{quiet: true}).translate(src, &u, false); err != nil {
		return "", err
	}
	return u.String(), nil
}

// Flags returns the flags with which g++ compiles units.
func Flags() string {
	return strings.Join(slices.Concat(commonFlags, machineFlags, []string{"-fno-gnu-unique"}, gccFlags), " ")
}
