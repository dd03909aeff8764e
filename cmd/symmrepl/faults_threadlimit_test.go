package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/symmrepl/symmrepl/internal/needs"
)

// If the user's limit of threads is too low for a session, the session does not start, and the
// error names the limit to raise. If it is too low for a cell, the error takes one line.
func TestThreadLimit(t *testing.T) {
	needs.Root(t, "it runs the program as a user without other threads")
	const user = 64999
	h := newHome(t, 2)
	program := filepath.Join(h.dir, "program")
	copyProgram(t, program)
	if out, err := exec.Command("chown", "-R", fmt.Sprint(user), h.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	limited := func(threads int, args ...string) (string, int) {
		cmd := h.command()
		cmd.Env = append(cmd.Env, "HOME="+h.dir)
		cmd.Path, cmd.Args = "/bin/bash", append([]string{"bash", "-c", fmt.Sprintf(`ulimit -u %d; exec "$@"`, threads), "bash", program},
			args...)
		cmd.Dir = h.dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	got, status := limited(30, "-n", "2", "--device", device(), "-e", "1")
	if !strings.HasPrefix(got, "symmrepl: a session of 2 ranks needs about 48 threads, and the user may have 30 and has ") || status != 3 {
		t.Errorf("at the start: status %d, %s", status, got)
	}
	if testing.Short() {
		t.Skip("short: the race detector's runtime ends a process without threads in its own way")
	}
	got, status = limited(80, "-n", "2", "--device", device(), "-e",
		"import (\"runtime\"; \"sync\")\nvar wg sync.WaitGroup; for range 80 { wg.Add(1); go func() { runtime.LockOSThread(); time.Sleep(time.Second); wg.Done() }() }; wg.Wait()")
	const says = "the worker crashed (runtime/cgo: pthread_create failed: Resource temporarily unavailable): the user may have no more threads: `ulimit -u` raises the limit\n"
	if !strings.Contains(got, says) || strings.Contains(got, "goroutine") || status != 1 {
		t.Errorf("in a cell: status %d, %s", status, got)
	}
}

// copyProgram copies this program to a file that others may run.
func copyProgram(t *testing.T, to string) {
	t.Helper()
	program, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	file, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err == nil {
		_, err = io.Copy(file, program)
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
