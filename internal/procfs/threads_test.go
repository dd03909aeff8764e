package procfs

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A process runs as long as one of its threads does.
func TestRuns(t *testing.T) {
	if !Runs(os.Getpid()) {
		t.Error("this process does not run")
	}
	c := exec.Command("true")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Waitid(unix.P_PID, c.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if Runs(c.Process.Pid) {
		t.Error("a process that has exited and is not reaped runs")
	}
	c.Wait()
	if Runs(c.Process.Pid) {
		t.Error("a process that is reaped runs")
	}
}

func TestThreadsOf(t *testing.T) {
	file := filepath.Join(t.TempDir(), "status")
	if err := os.WriteFile(file, []byte("Name:\tx\nUid:\t1000\t1001\t1000\t1000\nGid:\t7\t7\t7\t7\nThreads:\t12\nSigQ:\t0/9\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	for user, want := range map[int]uint64{1000: 12, 1001: 0, 0: 0} {
		if got := threadsOf(file, user); got != want {
			t.Errorf("user %d: %d threads, want %d", user, got, want)
		}
	}
	if got := threadsOf(file+"x", 1000); got != 0 {
		t.Errorf("a process that has ended: %d threads", got)
	}
}
