package main

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startFollowers starts every rank except rank 0.
func (h home) startFollowers(size int, args ...string) []*exec.Cmd {
	h.t.Helper()
	var list []*exec.Cmd
	for rank := 1; rank < size; rank++ {
		cmd := h.command(args...)
		cmd.Env = append(cmd.Env, launched(rank, size)...)
		if err := cmd.Start(); err != nil {
			h.t.Fatal(err)
		}
		h.t.Cleanup(func() { cmd.Process.Kill() })
		list = append(list, cmd)
	}
	return list
}

func TestPromptUnderLauncher(t *testing.T) {
	t.Parallel()
	h := newHome(t, 3)
	followers := h.startFollowers(3, "--device", device())
	h.env = launched(0, 3)
	x := h.terminal("--device", device())
	x.enter("symm.Rank() * symm.WorldSize()")
	for rank := range 3 {
		x.expect(fmt.Sprintf("[%d] %d\n", rank, 3*rank))
	}
	// The program reads Ctrl-C as a byte, whether or not the launcher's terminal turns Ctrl-C into
	// a signal.
	x.enter(`fmt.Println("it", "runs"); select {}`)
	x.expect("[0-2] it runs\n")
	if x.signals() {
		t.Error("while a cell runs, the terminal turns Ctrl-C into a signal")
	}
	x.send(ctrlC)
	x.enter("1 + symm.WorldSize()")
	x.expect("[0-2] 4\n")
	x.expect("symm> ")
	x.send(ctrlD)
	x.exit(0)
	for i, cmd := range followers {
		if err := end(t, fmt.Sprint("rank ", i+1), cmd); err != nil {
			t.Errorf("rank %d: %v", i+1, err)
		}
	}
	h.expectNothingLeft()
}

func TestScriptUnderLauncher(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	followers := h.startFollowers(2, "-n", "2", "--device", device(), "-e", "panic(symm.Rank())")
	h.env = launched(0, 2)
	r := h.run("", "-n", "2", "--device", device(), "-e", "panic(symm.Rank())")
	if r.status != 1 || !strings.Contains(r.err, "[1] cell[1]:1:1: panic: 1") {
		t.Errorf("%+v", r)
	}
	for i, cmd := range followers {
		if err := end(t, fmt.Sprint("rank ", i+1), cmd); err != nil {
			t.Errorf("rank %d: %v", i+1, err)
		}
	}
	h.expectNothingLeft()
}

// startHeadless starts rank 0 and returns when a user can attach to its session.
func (h home) startHeadless(lead *exec.Cmd) {
	h.t.Helper()
	if err := lead.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { lead.Process.Kill() })
	for deadline := time.Now().Add(patience()); ; time.Sleep(50 * time.Millisecond) {
		if r := h.run("", "attach"); r.status == 0 {
			break
		}
		if time.Now().After(deadline) {
			h.t.Fatal("no user can attach to the session")
		}
	}
}

// Without a terminal, a session that a launcher started waits until users attach.
func TestHeadless(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	followers := h.startFollowers(2, "--device", device())
	lead := h.command("--device", device())
	lead.Env = append(lead.Env, launched(0, 2)...)
	h.startHeadless(lead)
	x := h.terminal("attach")
	x.enter("symm.WorldSize() + 40")
	x.expect("[0,1] 42\n")
	x.expect("symm> ")
	x.send(ctrlD)
	x.exit(0)
	lead.Process.Signal(syscall.SIGTERM)
	end(t, "rank 0", lead)
	if got := lead.ProcessState.ExitCode(); got != 128+15 {
		t.Errorf("rank 0: exit status %d", got)
	}
	for i, cmd := range followers {
		end(t, fmt.Sprint("rank ", i+1), cmd)
	}
	h.expectNothingLeft()
}

// Killing the launcher ends no process of the session. The session ends by itself.
func TestLauncherKilled(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	followers := h.startFollowers(2, "--device", device())
	lead := h.command("--device", device())
	lead.Env = append(lead.Env, append(launched(0, 2), "TORCHELASTIC_RUN_ID=none")...)
	lead.Args = append([]string{"sh", "-c", `"$0" "$@"; exit`, lead.Path}, lead.Args[1:]...)
	lead.Path = "/bin/sh"
	h.startHeadless(lead)
	lead.Process.Kill()
	for i, cmd := range followers {
		if err := end(t, fmt.Sprint("rank ", i+1), cmd); err != nil {
			t.Errorf("rank %d: %v", i+1, err)
		}
	}
	h.expectNothingLeft()
}

func TestWrongEnvironment(t *testing.T) {
	t.Parallel()
	h := newHome(t, 1)
	for _, test := range []struct {
		env    []string
		args   string
		status int
		want   string
	}{
		{[]string{"WORLD_SIZE=2"}, "-e 1", 3, "WORLD_SIZE=2 set without RANK and LOCAL_RANK"},
		{[]string{"RANK=x", "WORLD_SIZE=2", "LOCAL_RANK=0"}, "-e 1", 3, "RANK=x is not a number"},
		{launched(0, 2), "-n 3 -e 1", 2, "-n 3, but torchrun has started 2 processes; leave -n out"},
		{[]string{"CUDA_VISIBLE_DEVICES="}, "-n 2 --device cuda -e 1", 3, "device cuda is not available"},
	} {
		h.env = test.env
		r := h.run("", strings.Fields(test.args)...)
		if r.status != test.status || !strings.Contains(r.err, test.want) || strings.Count(r.err, "\n") > 2 {
			t.Errorf("%v %s: %+v, want status %d and %q", test.env, test.args, r, test.status, test.want)
		}
	}
}
