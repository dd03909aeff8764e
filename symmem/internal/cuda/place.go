package cuda

import (
	"os"
	"path/filepath"

	"github.com/symmrepl/symmrepl/symmem/internal/cuda/clib"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Place implements device.Device. It assumes that GPUs that this process does not see are within
// reach.
func (d *Device) Place() (device.Place, error) {
	p := device.Place{ID: uuidString(d.uuid), Beside: multiProcess(d.info.Index, os.Getenv), Fabric: d.fabric}
	for peer := range d.visible {
		if peer == d.info.Index {
			continue
		}
		yes, err := clib.CanAccess(d.info.Index, peer)
		if err != nil {
			return p, err
		}
		if yes {
			continue
		}
		about, err := clib.Describe(peer)
		if err != nil {
			return p, err
		}
		p.Apart = append(p.Apart, uuidString(about.UUID))
	}
	return p, nil
}

// multiProcess reports whether MPS runs the kernels of several processes on a GPU side by side. If
// the driver cannot report that, multiProcess assumes that it uses the MPS daemon if there is one.
func multiProcess(index int, getenv func(string) string) bool {
	on, err := clib.DeviceAttribute(index, clib.MultiProcess)
	if err == nil {
		return on != 0
	}
	pipes := getenv("CUDA_MPS_PIPE_DIRECTORY")
	if pipes == "" {
		pipes = "/tmp/nvidia-mps"
	}
	_, err = os.Stat(filepath.Join(pipes, "control"))
	return err == nil
}
