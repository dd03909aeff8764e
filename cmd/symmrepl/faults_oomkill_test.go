package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/needs"
)

// took matches the amount of memory that a rank had when the kernel killed it.
var took = regexp.MustCompile(`it took [0-9.]+ GiB`)

// If the kernel kills a rank because the memory of its control group is used up, the error says so
// and cites the place in the cell. The next cell runs.
func TestKilledByTheKernel(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the race detector takes more memory than the group has")
	}
	if device() != "cpu" {
		t.Skip("the control group does not count the GPU driver's memory")
	}
	group := limitedGroup(t, 400<<20)
	h := newHome(t, 2)
	cmd := h.command("-n", "2", "--device", "cpu")
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `echo $$ > "$0/cgroup.procs" || exit 77; exec "$@"`, group}, cmd.Args...)
	cmd.Stdin = strings.NewReader("1 + 1\nif symm.Rank() == 1 { symm.Local(symm.U8, 1<<30).Fill(1) }\nsymm.Rank()\n")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() == 77 {
		t.Skipf("this test may not move a process into a control group: %s", out)
	}
	got := took.ReplaceAllString(string(out), "it took all")
	for _, want := range []string{
		"[1] cell[2]:1:23: the worker was killed (SIGKILL) by the kernel, which had no memory left: it took all\n",
		"[0] 0\n[1] 1\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%v, %s, want %s", err, got, want)
		}
	}
}

// limitedGroup returns a new control group whose processes may have this number of bytes together.
func limitedGroup(t *testing.T, bytes int) string {
	t.Helper()
	name := fmt.Sprintf("symmrepl-test-%d", os.Getpid())
	var err error
	for _, version := range []struct {
		dir, limit, swapLimit string
		swap                  int // of memory and swap together, or of swap alone
	}{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", bytes},
		{"/sys/fs/cgroup", "memory.max", "memory.swap.max", 0},
	} {
		dir := filepath.Join(version.dir, name)
		if err = os.Mkdir(dir, 0o755); err != nil {
			continue
		}
		t.Cleanup(func() {
			for range 100 { // the last processes of the group may still be ending
				if os.Remove(dir) == nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		})
		if err = os.WriteFile(filepath.Join(dir, version.limit), fmt.Append(nil, bytes), 0o644); err == nil {
			os.WriteFile(filepath.Join(dir, version.swapLimit), fmt.Append(nil, version.swap), 0o644) // not every kernel counts swap
			return dir
		}
	}
	needs.Root(t, "it limits the memory of a control group")
	t.Skipf("this test cannot limit the memory of any control group: %v", err)
	return ""
}
