package cuda

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// monitor is NVML, initialised at its first use. It is never shut down: that would unload the
// library, whose functions are already bound.
type monitor struct {
	mu  sync.Mutex
	api nvml.Interface
}

func (m *monitor) open() (nvml.Interface, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.api == nil {
		api := nvml.New()
		if ret := api.Init(); ret != nvml.SUCCESS {
			return nil, nvmlError("nvmlInit", ret)
		}
		m.api = api
	}
	return m.api, nil
}

// nvmlError converts a result to an error, nil for success.
func nvmlError(call string, ret nvml.Return) error {
	if ret == nvml.SUCCESS {
		return nil
	}
	e := &device.DriverError{Call: call, Code: int(ret), Name: "NVML_ERROR", Text: strings.ToLower(ret.Error())}
	switch ret {
	case nvml.ERROR_LIBRARY_NOT_FOUND:
		e.Name, e.Hint = "NVML_ERROR_LIBRARY_NOT_FOUND",
			"libnvidia-ml.so.1 comes with the NVIDIA driver: install it, or give the container the `utility` capability"
	case nvml.ERROR_DRIVER_NOT_LOADED:
		e.Name, e.Hint = "NVML_ERROR_DRIVER_NOT_LOADED", "load the NVIDIA kernel module"
	case nvml.ERROR_LIB_RM_VERSION_MISMATCH:
		e.Name, e.Hint = "NVML_ERROR_LIB_RM_VERSION_MISMATCH", "the driver was updated while loaded: reboot"
	case nvml.ERROR_NOT_SUPPORTED:
		e.Name = "NVML_ERROR_NOT_SUPPORTED"
	case nvml.ERROR_NO_PERMISSION:
		e.Name = "NVML_ERROR_NO_PERMISSION"
	case nvml.ERROR_GPU_IS_LOST:
		e.Name, e.Hint = "NVML_ERROR_GPU_IS_LOST", "see dmesg for Xid messages"
	}
	return e
}

// uuidString writes a UUID as NVML does.
func uuidString(u [16]byte) string {
	return fmt.Sprintf("GPU-%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// Top implements device.Monitored: it describes in one line how busy the GPU is: utilisation,
// memory, power and temperature, of all processes together.
func (d *Device) Top() (string, error) {
	api, err := d.monitor.open()
	if err != nil {
		return "", err
	}
	h, ret := api.DeviceGetHandleByUUID(uuidString(d.uuid))
	if ret != nvml.SUCCESS {
		return "", nvmlError("nvmlDeviceGetHandleByUUID", ret)
	}
	return top(h)
}

func top(h nvml.Device) (string, error) {
	var parts []string
	var failed []error
	add := func(call string, ret nvml.Return, part string) {
		if ret == nvml.SUCCESS {
			parts = append(parts, part)
		} else {
			failed = append(failed, nvmlError(call, ret))
		}
	}
	use, ret := h.GetUtilizationRates()
	add("nvmlDeviceGetUtilizationRates", ret, fmt.Sprintf("%d %% busy", use.Gpu))
	memory, ret := h.GetMemoryInfo()
	add("nvmlDeviceGetMemoryInfo", ret, fmt.Sprintf("%.1f of %.1f GiB", gib(memory.Used), gib(memory.Total)))
	power, ret := h.GetPowerUsage()
	add("nvmlDeviceGetPowerUsage", ret, fmt.Sprintf("%.0f W", float64(power)/1000))
	heat, ret := h.GetTemperature(nvml.TEMPERATURE_GPU)
	add("nvmlDeviceGetTemperature", ret, fmt.Sprintf("%d °C", heat))
	if len(parts) == 0 {
		return "", errors.Join(failed...)
	}
	return strings.Join(parts, ", "), nil
}

func gib(bytes uint64) float64 { return float64(bytes) / (1 << 30) }
