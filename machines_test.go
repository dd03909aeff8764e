package symmrepl

import (
	"go/build"
	"path/filepath"
	"strings"
	"testing"
)

// TestMachines holds that a Go file that is compiled for one of x86-64 and aarch64 is compiled for
// the other, too. Code of one machine has the machine in its file's name, amd64 or arm64. A wrong
// constraint would show only when the wheel for aarch64 is built.
func TestMachines(t *testing.T) {
	compiled := func(machine, file string) bool {
		c := build.Default
		c.GOOS, c.GOARCH, c.CgoEnabled = "linux", machine, true
		ok, err := c.MatchFile(filepath.Split(file))
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	for _, file := range sources(t) {
		if strings.Contains(file, "_amd64") || strings.Contains(file, "_arm64") {
			continue
		}
		if x86, arm := compiled("amd64", file), compiled("arm64", file); x86 != arm {
			t.Errorf("%s is compiled for amd64: %t, for arm64: %t", file, x86, arm)
		}
	}
}
