//go:build !(linux && (amd64 || arm64))

package cpu

import (
	"runtime"

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
