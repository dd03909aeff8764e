package procfs

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// A wiped variable cannot be read in /proc/PID/environ, and the other variables can.
func TestWipeEnviron(t *testing.T) {
	if os.Getenv("PROCFS_SECRET") != "" {
		os.Unsetenv("PROCFS_SECRET")
		if err := WipeEnviron("PROCFS_SECRET"); err != nil {
			t.Fatal(err)
		}
		environ, err := os.ReadFile("/proc/self/environ")
		if err != nil {
			t.Fatal(err)
		}
		os.Stdout.Write(environ)
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run=^TestWipeEnviron$")
	cmd.Env = append(os.Environ(), "PROCFS_BEFORE=1", "PROCFS_SECRET=top secret", "PROCFS_AFTER=2")
	out, err := cmd.CombinedOutput()
	if err != nil || bytes.Contains(out, []byte("top secret")) || !bytes.Contains(out, []byte("PROCFS_BEFORE=1\x00")) ||
		!bytes.Contains(out, []byte("PROCFS_AFTER=2\x00")) {
		t.Errorf("%v: %q", err, out)
	}
}
