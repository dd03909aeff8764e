package cuda

import (
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/symmrepl/symmrepl/symmem/internal/cuda/clib"
)

// fabricDomain returns a name for the NVLink fabric that connects the GPU to GPUs of other hosts,
// and for the GPU's clique in it, whose members map each other's memory. NVML reports both. The
// name is empty if there is no fabric, or the driver has no handles for it.
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
