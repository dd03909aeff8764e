package cuda

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// board is a GPU in NVML's view, with links to the targets in far: "switch", "down", or a bus
// number.
func board(bus uint32, p2p nvml.GpuP2PStatus, level nvml.GpuTopologyLevel, far ...any) *mock.Device {
	at := func(i int) any {
		if i < len(far) {
			return far[i]
		}
		return nil
	}
	return &mock.Device{
		GetP2PStatusFunc: func(nvml.Device, nvml.GpuP2PCapsIndex) (nvml.GpuP2PStatus, nvml.Return) { return p2p, nvml.SUCCESS },
		GetTopologyCommonAncestorFunc: func(nvml.Device) (nvml.GpuTopologyLevel, nvml.Return) {
			return level, nvml.SUCCESS
		},
		GetPciInfoFunc: func() (nvml.PciInfo, nvml.Return) { return nvml.PciInfo{Bus: bus}, nvml.SUCCESS },
		GetNvLinkStateFunc: func(i int) (nvml.EnableState, nvml.Return) {
			switch at(i) {
			case nil:
				return 0, nvml.ERROR_INVALID_ARGUMENT
			case "down":
				return nvml.FEATURE_DISABLED, nvml.SUCCESS
			}
			return nvml.FEATURE_ENABLED, nvml.SUCCESS
		},
		GetNvLinkRemoteDeviceTypeFunc: func(i int) (nvml.IntNvLinkDeviceType, nvml.Return) {
			if at(i) == "switch" {
				return nvml.NVLINK_DEVICE_TYPE_SWITCH, nvml.SUCCESS
			}
			return nvml.NVLINK_DEVICE_TYPE_GPU, nvml.SUCCESS
		},
		GetNvLinkRemotePciInfoFunc: func(i int) (nvml.PciInfo, nvml.Return) {
			return nvml.PciInfo{Bus: uint32(at(i).(int))}, nvml.SUCCESS
		},
		GetFieldValuesFunc: func(v []nvml.FieldValue) nvml.Return {
			if v[0].FieldId != 90 {
				return nvml.ERROR_INVALID_ARGUMENT
			}
			binary.NativeEndian.PutUint32(v[0].Value[:], 26562)
			return nvml.SUCCESS
		},
	}
}

func TestConnection(t *testing.T) {
	const ok, no = nvml.P2P_STATUS_OK, nvml.P2P_STATUS_NOT_SUPPORTED
	peer := board(2, ok, 0)
	for _, c := range []struct {
		name string
		from *mock.Device
		want string
		rate float64 // GB/s, rounded
	}{
		{"a switch", board(1, ok, nvml.TOPOLOGY_SYSTEM, "switch", "switch", "down", "switch"), "NV3", 80},
		{"direct links", board(1, ok, nvml.TOPOLOGY_NODE, 2, 3, 2), "NV2", 53},
		{"links elsewhere", board(1, ok, nvml.TOPOLOGY_NODE, 3), "NODE", 0},
		{"no links", board(1, no, nvml.TOPOLOGY_SINGLE), "PIX", 0},
		{"several switches", board(1, no, nvml.TOPOLOGY_MULTIPLE), "PXB", 0},
		{"a host bridge", board(1, no, nvml.TOPOLOGY_HOSTBRIDGE), "PHB", 0},
		{"sockets", board(1, no, nvml.TOPOLOGY_SYSTEM), "SYS", 0},
	} {
		kind, rate, err := connection(c.from, peer)
		if err != nil || kind != c.want || math.Round(rate) != c.rate {
			t.Errorf("%s: %s, %g GB/s (%v), want %s, %g", c.name, kind, rate, err, c.want, c.rate)
		}
	}
}

func TestTop(t *testing.T) {
	d := &mock.Device{
		GetUtilizationRatesFunc: func() (nvml.Utilization, nvml.Return) { return nvml.Utilization{Gpu: 42}, nvml.SUCCESS },
		GetMemoryInfoFunc:       func() (nvml.Memory, nvml.Return) { return nvml.Memory{Used: 3 << 29, Total: 140 << 30}, nvml.SUCCESS },
		GetPowerUsageFunc:       func() (uint32, nvml.Return) { return 0, nvml.ERROR_NOT_SUPPORTED },
		GetTemperatureFunc:      func(nvml.TemperatureSensors) (uint32, nvml.Return) { return 31, nvml.SUCCESS },
	}
	if got, err := top(d); got != "42 % busy, 1.5 of 140.0 GiB, 31 °C" || err != nil {
		t.Errorf("top is %q (%v)", got, err)
	}
	d.GetUtilizationRatesFunc = func() (nvml.Utilization, nvml.Return) { return nvml.Utilization{}, nvml.ERROR_GPU_IS_LOST }
	d.GetMemoryInfoFunc = func() (nvml.Memory, nvml.Return) { return nvml.Memory{}, nvml.ERROR_GPU_IS_LOST }
	d.GetTemperatureFunc = func(nvml.TemperatureSensors) (uint32, nvml.Return) { return 0, nvml.ERROR_GPU_IS_LOST }
	_, err := top(d)
	var failed *device.DriverError
	if !errors.As(err, &failed) || failed.Call != "nvmlDeviceGetUtilizationRates" || failed.Name != "NVML_ERROR_GPU_IS_LOST" {
		t.Errorf("of a lost GPU top gives %v", err)
	}
}

func TestUUID(t *testing.T) {
	u := [16]byte{0x0a, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xff}
	if got := uuidString(u); got != "GPU-0a010203-0405-0607-0809-0a0b0c0d0eff" {
		t.Errorf("the UUID is %s", got)
	}
}

func TestMulticastWhy(t *testing.T) {
	for _, c := range []struct {
		env  string
		able bool
		old  bool // the driver is old
		want string
	}{
		{"NCCL_NVLS_ENABLE=0", true, false, "NCCL_NVLS_ENABLE=0 disables it"},
		{"NCCL_NVLS_ENABLE=1", true, false, ""},
		{"TORCH_SYMM_MEM_DISABLE_MULTICAST=1", false, false, "TORCH_SYMM_MEM_DISABLE_MULTICAST=1 disables it"},
		{"SYMMREPL_DISABLE_MULTICAST=1", true, false, "SYMMREPL_DISABLE_MULTICAST=1 disables it"},
		{"", false, false, "the device does not support it"},
		{"", true, true, "the driver is older than CUDA 12.1"},
		{"", true, false, ""},
	} {
		name, value, _ := strings.Cut(c.env, "=")
		got := multicastWhy(c.able, !c.old, func(s string) string {
			if s == name {
				return value
			}
			return ""
		})
		if got != c.want {
			t.Errorf("with %q, able %v: %q, want %q", c.env, c.able, got, c.want)
		}
	}
}

// That a machine has no GPU is no problem; that the driver does not start is one.
func TestReportWithoutGPUs(t *testing.T) {
	for _, test := range []struct {
		absent bool
		want   string
	}{
		{true, "GPUs  none: no driver (install it)\n"},
		{false, "problem  device cuda is not available: no driver (install it)\n"},
	} {
		r := Report{Problem: &device.UnavailableError{Kind: "cuda", Why: "no driver", Hint: "install it", Absent: test.absent}}
		if got := r.String(); got != test.want {
			t.Errorf("the report is %q, want %q", got, test.want)
		}
	}
}

func TestReport(t *testing.T) {
	r := Report{
		Driver: "CUDA 13.0, driver 580.159",
		GPUs: []GPU{
			{Name: "NVIDIA H200", UUID: "GPU-a", Memory: 140 << 30, Capability: "9.0", Multicast: "the device does not support it",
				Links: []string{"-", "NV18"}, Access: []bool{true, true}},
			{Name: "NVIDIA H200", UUID: "GPU-b", Memory: 140 << 30, Capability: "9.0", Multicast: "the device does not support it",
				Links: []string{"NV18", "-"}, Access: []bool{false, true}},
		},
		Libraries: []Library{
			{Name: "NVRTC", Path: "/a/libnvrtc.so.13", Version: "13.0.88", Origin: "ldconfig"},
			{Name: "NCCL", Path: "/b/libnccl.so.2", Origin: "python", Problem: "it is broken", Hint: "get another"},
			{Name: "NVSHMEM", Problem: "not found", Hint: "`pip install it`"},
		},
	}
	const want = `driver          CUDA 13.0, driver 580.159
GPU 0           NVIDIA H200, 140.0 GiB, compute capability 9.0, GPU-a
GPU 1           NVIDIA H200, 140.0 GiB, compute capability 9.0, GPU-b
links of GPU 0  - NV18
links of GPU 1  NV18 -
note            GPU 1 cannot map the memory of GPU 0: their ranks are in different LSA teams, and the network carries between them
multicast       not used: the device does not support it
sharing         more ranks than 2 share GPUs: kernels of different ranks take turns by time slices
NVRTC           13.0.88, /a/libnvrtc.so.13 (ldconfig)
NCCL            /b/libnccl.so.2 (python) does not load: it is broken; get another
NVSHMEM         not found; ` + "`pip install it`" + `
`
	if got := r.String(); got != want {
		t.Errorf("the report is\n%s\nwant\n%s", got, want)
	}
	r.GPUs[0].Beside = true
	if got, want := r.String(), "\nsharing         more ranks than 2 share GPUs: MPS runs the kernels of different ranks side by side\n"; !strings.Contains(got, want) {
		t.Errorf("the report under MPS is\n%s\nwhich lacks%s", got, want)
	}
}

func TestPreciseVersion(t *testing.T) {
	for _, c := range []struct {
		file string
		said [3]int
		want string
	}{
		{"13.0.88", [3]int{13, 0, 0}, "13.0.88"}, {"", [3]int{13, 5, 0}, "13.5"}, {"2.28.9", [3]int{2, 29, 7}, "2.29.7"},
		{"12.4.1", [3]int{13, 0, 0}, "13.0"},
	} {
		if got := preciseVersion(c.file, c.said); got != c.want {
			t.Errorf("a file of %q that says %v is %q, want %q", c.file, c.said, got, c.want)
		}
	}
}
