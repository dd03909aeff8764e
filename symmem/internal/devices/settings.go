package devices

import "slices"

// cudaSettings are the environment variables that decide how a world on GPUs works. Those of a library's
// place are none of them, and neither are the switches of multicast, which all kinds obey.
var cudaSettings = []string{"TORCH_SYMMMEM", "SYMMREPL_NCCL_WINDOWS", "NCCL_MULTI_RANK_GPU_ENABLE", "NCCL_RAS_ADDR", "NCCL_RAS_ENABLE"}

// Ignored returns the settings in the environment that are for other kinds of devices, as in
// "TORCH_SYMMMEM=NCCL". A setting that names what this kind does anyway is none of them.
func (k *Kind) Ignored(getenv func(string) string) (ignored []string) {
	for _, other := range kinds {
		for _, name := range other.Settings {
			value := getenv(name)
			_, does := k.Backend(value)
			if value != "" && !does && !slices.Contains(k.Settings, name) {
				ignored = append(ignored, name+"="+value)
			}
		}
	}
	return ignored
}
