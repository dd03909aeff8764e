package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/internal/needs"
)

// limited runs the program after a line of a shell has set limits.
func (h home) limited(limits, stdin string, args ...string) (out string, status int) {
	h.t.Helper()
	cmd := h.command(args...)
	cmd.Path, cmd.Args = "/bin/bash", append([]string{"bash", "-c", limits + ` && exec "$0" "$@"`, cmd.Path}, args...)
	cmd.Stdin = strings.NewReader(stdin)
	text, _ := cmd.CombinedOutput()
	return string(text), cmd.ProcessState.ExitCode()
}

// Whatever number of descriptors a process may have, a session works or does not start, with one line
// that names the number.
func TestDescriptorLimits(t *testing.T) {
	t.Parallel()
	h := newHome(t, 4)
	if device() != "cpu" {
		t.Skip("the GPU driver opens an unknown number of descriptors")
	}
	limits := []int{128, 512}
	for n := 16; n < 78; n += 3 {
		limits = append(limits, n)
	}
	works := 0
	for _, n := range limits {
		// the second cell ends a worker: its replacement needs descriptors too
		got, status := h.limited(fmt.Sprintf("ulimit -n %d", n), "symm.Rank() * 0\nimport \"os\"; if symm.Rank() == 2 { os.Exit(5) }\nsymm.Rank() * 0 + 7\n",
			"-n", "4", "--device", "cpu")
		switch {
		case status == 3 && strings.Count(got, "\n") == 1 && strings.HasPrefix(got, "symmrepl: a session of 4 ranks needs about 60 file descriptors, and a process may have "+fmt.Sprint(n)+" and this one has "):
		case status != 3 && strings.HasPrefix(got, "[0-3] 0\n") && strings.HasSuffix(got, "[0-3] 7\n") && strings.Contains(got, "exited with status 5"):
			works++
		default:
			t.Errorf("%d descriptors: status %d, %s", n, status, got)
		}
	}
	if works < 2 || works > 6 {
		t.Errorf("%d of %d sessions work", works, len(limits))
	}
}

// A folder that is full or read-only does not end a session or keep kernels from being compiled, unless
// there is no other.
func TestFullFolders(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	if device() != "cpu" {
		t.Skip("the kernels of other devices are not files of this size")
	}
	if out, err := exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "none", h.dir+"/cache").CombinedOutput(); err != nil {
		needs.Root(t, "it mounts file systems, which users may not do here")
		t.Skipf("this test may not mount file systems: %v: %s", err, out)
	}
	// a kernel that no cache has
	kernel := fmt.Sprintf("k := symm.Compile(`extern \"C\" __global__ void f(float* x) { x[0] = 7; } // %d`); t := symm.Empty(symm.F32, 2); k.Launch(symm.Grid(1), symm.Block(1), t); t", os.Getpid())
	over := `x := symm.Empty(symm.F32, 4000000).Fill(1); symm.AllReduce(x, "sum"); x.Slice(0, 2)`
	for _, c := range []struct {
		name, mounts, code string
		args               []string
		want               string
	}{
		{"full cache", "mount -t tmpfs -o size=64k none $H/cache", kernel, nil, "symmetric [7 0]\n"},
		{"read-only cache", "mount -t tmpfs -o ro none $H/cache", kernel, nil, "symmetric [7 0]\n"},
		{"everything full", "mount -t tmpfs -o size=64k none $H/cache && mount -t tmpfs -o size=64k none $H/tmp", kernel, nil, "SYMMREPL_CACHE names a folder with more room"},
		{"no home", "unset HOME SYMMREPL_CACHE XDG_STATE_HOME", kernel, nil, "symmetric [7 0]\n"},
		{"read-only home", "export HOME=$H/cache; unset SYMMREPL_CACHE XDG_STATE_HOME; mount -t tmpfs -o ro none $H/cache", kernel, nil, "symmetric [7 0]\n"},
		{"full shared memory", "mount -t tmpfs -o size=4k none /dev/shm", over, nil, "f32[2] on cpu, symmetric [2 2]\n"},
		{"no room for a network of files", "mount -t tmpfs -o size=64k none $H/run", over, []string{"--hosts", "2", "--net", "null"}, "no space left on device"},
	} {
		mounts := strings.ReplaceAll(c.mounts, "$H", h.dir)
		cmd := h.command(append([]string{"-n", "2", "--device", "cpu", "-e", c.code}, c.args...)...)
		cmd.Env = append(cmd.Env, "SYMMREPL_CACHE="+h.dir+"/cache")
		cmd.Path, cmd.Args = "", append([]string{"unshare", "-rm", "bash", "-c", mounts + ` && exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
		cmd.Path, _ = exec.LookPath("unshare")
		out, _ := cmd.CombinedOutput()
		if got := strings.ToLower(string(out)); !strings.Contains(got, strings.ToLower(c.want)) || strings.Contains(got, "crashed") {
			t.Errorf("%s: %s", c.name, out)
		}
	}
}
