//go:build !(linux && amd64)

package cpu

import (
	"runtime"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Open returns an error, because the emulator, which switches stacks in assembly, does not support
// this machine.
func Open(int) (device.Device, error) {
	return nil, &device.UnavailableError{Kind: "cpu", Why: "it runs on linux/amd64, not on " + runtime.GOOS + "/" + runtime.GOARCH}
}

// BuiltBy returns "nothing": there is no emulator.
func BuiltBy() string { return "nothing" }

// Unit returns an error, as Open does.
func Unit(device.Source) (string, error) {
	_, err := Open(0)
	return "", err
}

// Flags returns none.
func Flags() string { return "" }
