package symmem

import (
	"fmt"

	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda"
)

// Doctor describes what symmetric memory finds on this machine, one thing a line: the driver, the GPUs and their links, the libraries, the
// compiler of the cpu device; what is missing, and how to get it. It needs no Runtime.
func Doctor() string {
	report := cuda.Probe().String()
	if path, err := cpu.Compiler(); err != nil {
		report += fmt.Sprintf("cpu device  without your own kernels: %v\n", err)
	} else {
		report += fmt.Sprintf("cpu device  ready, kernels compiled by %s\n", path)
	}
	return report
}

// Top says in one line how busy this rank's device is; on the cpu device, how much memory tensors take.
func (rt *Runtime) Top() (string, error) {
	if d, ok := rt.dev.(interface{ Top() (string, error) }); ok {
		return d.Top()
	}
	return fmt.Sprintf("%s: nothing is measured", rt.DeviceName()), nil
}

// Topo lists the links of this rank's device to its peers, one a line.
func (rt *Runtime) Topo() (string, error) {
	if d, ok := rt.dev.(interface{ Topo() (string, error) }); ok {
		return d.Topo()
	}
	return fmt.Sprintf("%s: shared memory of this host", rt.DeviceName()), nil
}
