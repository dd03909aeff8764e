package cuda

import (
	"encoding/binary"
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Links implements device.Linked: it returns the UUID of this GPU and its links to every other GPU
// of the host, in the host's order.
func (d *Device) Links() (id string, links []device.Link, err error) {
	api, err := d.monitor.open()
	if err != nil {
		return "", nil, err
	}
	id = uuidString(d.uuid)
	self, ret := api.DeviceGetHandleByUUID(id)
	if ret != nvml.SUCCESS {
		return "", nil, nvmlError("nvmlDeviceGetHandleByUUID", ret)
	}
	n, ret := api.DeviceGetCount()
	if ret != nvml.SUCCESS {
		return "", nil, nvmlError("nvmlDeviceGetCount", ret)
	}
	for i := range n {
		peer, ret := api.DeviceGetHandleByIndex(i)
		if ret != nvml.SUCCESS {
			return "", nil, nvmlError("nvmlDeviceGetHandleByIndex", ret)
		}
		l := device.Link{Index: i}
		if l.ID, _ = peer.GetUUID(); l.ID == id {
			continue
		}
		l.Name, _ = peer.GetName()
		if l.Kind, l.Rate, err = connection(self, peer); err != nil {
			return "", nil, err
		}
		links = append(links, l)
	}
	return id, links, nil
}

// nvlinked reports whether NVLink reaches every other GPU of the host, according to NVML.
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

// connection returns the Kind and the Rate of the Link between two GPUs.
func connection(a, b nvml.Device) (kind string, rate float64, err error) {
	if status, ret := a.GetP2PStatus(b, nvml.P2P_CAPS_INDEX_NVLINK); ret == nvml.SUCCESS && status == nvml.P2P_STATUS_OK {
		if n := nvlinks(a, b); n > 0 {
			return fmt.Sprintf("NV%d", n), float64(n) * linkRate(a), nil
		}
	}
	level, ret := a.GetTopologyCommonAncestor(b)
	if ret != nvml.SUCCESS {
		return "", 0, nvmlError("nvmlDeviceGetTopologyCommonAncestor", ret)
	}
	switch level {
	case nvml.TOPOLOGY_INTERNAL, nvml.TOPOLOGY_SINGLE:
		return "PIX", 0, nil
	case nvml.TOPOLOGY_MULTIPLE:
		return "PXB", 0, nil
	case nvml.TOPOLOGY_HOSTBRIDGE:
		return "PHB", 0, nil
	case nvml.TOPOLOGY_NODE:
		return "NODE", 0, nil
	}
	return "SYS", 0, nil
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

// linkRate returns the rate of one link in GB/s each way, 0 if it is unknown.
func linkRate(d nvml.Device) float64 {
	values := []nvml.FieldValue{{FieldId: nvml.FI_DEV_NVLINK_SPEED_MBPS_COMMON}}
	if d.GetFieldValues(values) != nvml.SUCCESS || nvml.Return(values[0].NvmlReturn) != nvml.SUCCESS {
		return 0
	}
	return float64(binary.NativeEndian.Uint32(values[0].Value[:])) / 1000
}
