package devices

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// obeyed are variables of other programs that the cpu device obeys too.
var obeyed = []string{"NCCL_NVLS_ENABLE", "TORCH_SYMM_MEM_DISABLE_MULTICAST"}

// TestSettings checks that each environment variable of PyTorch, NCCL and NVSHMEM that the sources name
// is a setting of GPUs, or is obeyed by all kinds of devices.
func TestSettings(t *testing.T) {
	variable := regexp.MustCompile(`"((?:TORCH|NCCL|NVSHMEM)_[A-Z_]+)"`)
	found := map[string]bool{}
	for _, folder := range []string{"../..", "../cuda", "../device", "../core", "../core/nccl", "../core/nvshmem", "../../../internal/ras"} {
		files, _ := filepath.Glob(folder + "/*.go")
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range variable.FindAllStringSubmatch(string(text), -1) {
				found[m[1]] = true
				if !slices.Contains(cudaSettings, m[1]) && !slices.Contains(obeyed, m[1]) {
					t.Errorf("%s names %s: is it a setting of GPUs?", file, m[1])
				}
			}
		}
	}
	for _, name := range slices.Concat(cudaSettings, obeyed) {
		if !found[name] && !strings.HasPrefix(name, "SYMMREPL_") {
			t.Errorf("no source names %s", name)
		}
	}
}

// TestIgnored checks which settings a kind of device ignores.
func TestIgnored(t *testing.T) {
	cpu, _ := Find("cpu")
	cuda := &kinds[0]
	for _, c := range []struct {
		kind *Kind
		env  map[string]string
		want string
	}{
		{cpu, nil, ""},
		{cpu, map[string]string{"TORCH_SYMMMEM": "NCCL"}, "TORCH_SYMMMEM=NCCL"},
		{cpu, map[string]string{"TORCH_SYMMMEM": "CPU"}, ""},
		{cpu, map[string]string{"NCCL_RAS_ENABLE": "0", "TORCH_SYMMMEM": "?"}, "TORCH_SYMMMEM=? NCCL_RAS_ENABLE=0"},
		{cpu, map[string]string{"NCCL_NVLS_ENABLE": "0"}, ""},
		{cuda, map[string]string{"TORCH_SYMMMEM": "NCCL", "NCCL_RAS_ENABLE": "0"}, ""},
	} {
		if got := strings.Join(c.kind.Ignored(func(name string) string { return c.env[name] }), " "); got != c.want {
			t.Errorf("%s with %v ignores %q, want %q", c.kind.Name, c.env, got, c.want)
		}
	}
}
