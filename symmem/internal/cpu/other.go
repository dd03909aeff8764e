//go:build !(linux && amd64)

package cpu

import (
	"runtime"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Open says that the emulator, which switches stacks by hand, was not written for this machine.
func Open(int) (device.Device, error) {
	return nil, &device.UnavailableError{Kind: "cpu", Why: "it runs on linux/amd64, not on " + runtime.GOOS + "/" + runtime.GOARCH}
}
