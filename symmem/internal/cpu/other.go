//go:build !(linux && (amd64 || arm64))

package cpu

import (
	"io/fs"
	"runtime"

	"github.com/symmrepl/symmrepl/kernels/signature"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu/emu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Supported returns an error, because the emulator, which switches stacks in assembly, does not support
// this machine.
func Supported() error {
	return &device.UnavailableError{Kind: "cpu",
		Why: "it runs on linux/amd64 and linux/arm64, not on " + runtime.GOOS + "/" + runtime.GOARCH}
}

// Open returns the error of Supported.
func Open(int) (device.Device, error) { return nil, Supported() }

// BuiltBy returns "", because no compiler has built the emulator.
func BuiltBy() string { return "" }

// Unit returns the error of Supported.
func Unit(device.Source) (string, error) { return "", Supported() }

// Flags returns none.
func Flags() string { return "" }

// Libraries makes none.
type Libraries struct{}

// Kernels returns the error of Supported.
func (*Libraries) Kernels(device.Source, bool) (string, []signature.Kernel, error) {
	return "", nil, Supported()
}

// Operation returns the error of Supported.
func (*Libraries) Operation(string, bool) (string, error) { return "", Supported() }

// Emulator returns the error of Supported.
func (*Libraries) Emulator(fs.FS) (string, error) { return "", Supported() }

// Close does nothing.
func (*Libraries) Close() {}

// Describe describes nothing.
func Describe([]emu.Finding, int64) []device.Finding { return nil }

// NewShadow returns the error of Supported.
func NewShadow() (name string, end func(), err error) { return "", nil, Supported() }

// EachField calls nothing.
func EachField(func(name string, bytes uintptr, field string, offset, size uintptr)) {}
