package device

// MulticastDisabled returns the environment variable that disables NVLink multicast, as text, or ""
// if none does.
func MulticastDisabled(getenv func(string) string) string {
	for _, s := range [][2]string{{"NCCL_NVLS_ENABLE", "0"}, {"TORCH_SYMM_MEM_DISABLE_MULTICAST", "1"},
		{"SYMMREPL_DISABLE_MULTICAST", "1"}} {
		if getenv(s[0]) == s[1] {
			return s[0] + "=" + s[1] + " disables it"
		}
	}
	return ""
}
