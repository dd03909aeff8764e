package cuda

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// link is how two GPUs are connected.
type link struct {
	name string  // "NV18": NVLinks that lead there; else the nearest common place: "PIX", "PXB", "PHB", "NODE", "SYS"
	rate float64 // GB/s each way, as the links are specified; 0 when not over NVLink
}

func (l link) String() string {
	if l.rate == 0 {
		return l.name
	}
	return fmt.Sprintf("%s, %.0f GB/s each way", l.name, l.rate)
}

// Topo lists this GPU's links to every other GPU of the host, one a line.
func (d *Device) Topo() (string, error) {
	api, err := d.monitor.open()
	if err != nil {
		return "", err
	}
	self, ret := api.DeviceGetHandleByUUID(uuidString(d.uuid))
	if ret != nvml.SUCCESS {
		return "", nvmlError("nvmlDeviceGetHandleByUUID", ret)
	}
	n, ret := api.DeviceGetCount()
	if ret != nvml.SUCCESS {
		return "", nvmlError("nvmlDeviceGetCount", ret)
	}
	var lines []string
	for i := range n {
		peer, ret := api.DeviceGetHandleByIndex(i)
		if ret != nvml.SUCCESS {
			return "", nvmlError("nvmlDeviceGetHandleByIndex", ret)
		}
		uuid, _ := peer.GetUUID()
		if uuid == uuidString(d.uuid) {
			continue
		}
		name, _ := peer.GetName()
		l, err := connection(self, peer)
		if err != nil {
			return "", err
		}
		lines = append(lines, fmt.Sprintf("GPU %d of the host (%s, %s): %s", i, name, uuid, l))
	}
	if len(lines) == 0 {
		return "the only GPU of the host", nil
	}
	return strings.Join(lines, "\n"), nil
}

// nvlinked reports whether every other GPU of the host is reached by NVLink, as far as NVML knows.
func (d *Device) nvlinked() bool {
	api, err := d.monitor.open()
	if err != nil {
		return false
	}
	self, ret := api.DeviceGetHandleByUUID(uuidString(d.uuid))
	if ret != nvml.SUCCESS {
		return false
	}
	n, ret := api.DeviceGetCount()
	for i := range n {
		peer, found := api.DeviceGetHandleByIndex(i)
		if found != nvml.SUCCESS {
			return false
		}
		if uuid, _ := peer.GetUUID(); uuid == uuidString(d.uuid) {
			continue
		}
		if status, ret := self.GetP2PStatus(peer, nvml.P2P_CAPS_INDEX_NVLINK); ret != nvml.SUCCESS || status != nvml.P2P_STATUS_OK {
			return false
		}
	}
	return ret == nvml.SUCCESS
}

// connection finds out how two GPUs are connected.
func connection(a, b nvml.Device) (link, error) {
	if status, ret := a.GetP2PStatus(b, nvml.P2P_CAPS_INDEX_NVLINK); ret == nvml.SUCCESS && status == nvml.P2P_STATUS_OK {
		if n := nvlinks(a, b); n > 0 {
			return link{fmt.Sprintf("NV%d", n), float64(n) * linkRate(a)}, nil
		}
	}
	level, ret := a.GetTopologyCommonAncestor(b)
	if ret != nvml.SUCCESS {
		return link{}, nvmlError("nvmlDeviceGetTopologyCommonAncestor", ret)
	}
	switch level {
	case nvml.TOPOLOGY_INTERNAL, nvml.TOPOLOGY_SINGLE:
		return link{name: "PIX"}, nil
	case nvml.TOPOLOGY_MULTIPLE:
		return link{name: "PXB"}, nil
	case nvml.TOPOLOGY_HOSTBRIDGE:
		return link{name: "PHB"}, nil
	case nvml.TOPOLOGY_NODE:
		return link{name: "NODE"}, nil
	}
	return link{name: "SYS"}, nil
}

// nvlinks counts the active links of a that lead to b, directly or through a switch.
func nvlinks(a, b nvml.Device) int {
	peer, ret := b.GetPciInfo()
	if ret != nvml.SUCCESS {
		return 0
	}
	n := 0
	for i := range nvml.NVLINK_MAX_LINKS {
		state, ret := a.GetNvLinkState(i)
		if ret != nvml.SUCCESS || state != nvml.FEATURE_ENABLED {
			continue
		}
		if kind, ret := a.GetNvLinkRemoteDeviceType(i); ret == nvml.SUCCESS && kind == nvml.NVLINK_DEVICE_TYPE_SWITCH {
			n++
			continue
		}
		end, ret := a.GetNvLinkRemotePciInfo(i)
		if ret == nvml.SUCCESS && end.Domain == peer.Domain && end.Bus == peer.Bus && end.Device == peer.Device {
			n++
		}
	}
	return n
}

// linkRate is the rate of one link in GB/s each way, 0 when unknown.
func linkRate(d nvml.Device) float64 {
	values := []nvml.FieldValue{{FieldId: nvml.FI_DEV_NVLINK_SPEED_MBPS_COMMON}}
	if d.GetFieldValues(values) != nvml.SUCCESS || nvml.Return(values[0].NvmlReturn) != nvml.SUCCESS {
		return 0
	}
	return float64(binary.NativeEndian.Uint32(values[0].Value[:])) / 1000
}
