package nvshmem

// Environment is the environment that the library needs here: all its members are on one machine,
// and nothing uses NVLink multicast.
func Environment() []string {
	return []string{"NVSHMEM_DISABLE_NVLS=1", "NVSHMEM_REMOTE_TRANSPORT=none", "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME=lo"}
}
