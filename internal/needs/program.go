package needs

import (
	"os/exec"
	"testing"
)

// Program returns the path of a program. It skips the test if the program is not installed.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}
