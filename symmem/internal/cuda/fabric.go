package cuda

import (
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/symmrepl/symmrepl/symmem/internal/cuda/clib"
)

// fabricDomain names the NVLink fabric that the GPU is on together with those of other hosts, as NVML knows it, and its clique there, whose members map
// each other's memory. It is empty where there is none, or where the driver has no handles for it.
func (d *Device) fabricDomain() string {
	if able, err := clib.DeviceAttribute(d.info.Index, clib.FabricHandles); err != nil || able == 0 {
		return ""
	}
	api, err := d.monitor.open()
	if err != nil {
		return ""
	}
	self, ret := api.DeviceGetHandleByUUID(uuidString(d.uuid))
	if ret != nvml.SUCCESS {
		return ""
	}
	info, ret := self.GetGpuFabricInfoV().V2()
	if ret != nvml.SUCCESS {
		return ""
	}
	return domainOf(info)
}

// domainOf names the domain that a GPU has joined. On a machine by itself the cluster is zero.
func domainOf(info nvml.GpuFabricInfo_v2) string {
	if info.State != nvml.GPU_FABRIC_STATE_COMPLETED || nvml.Return(info.Status) != nvml.SUCCESS || info.ClusterUuid == ([16]uint8{}) {
		return ""
	}
	return fmt.Sprintf("%x/%d", info.ClusterUuid, info.CliqueId)
}
