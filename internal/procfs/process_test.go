package procfs

import (
	"os"
	"os/exec"
	"slices"
	"testing"
)

// An open stat file tells the same as one that is opened each time, until the process is reaped.
func TestProcess(t *testing.T) {
	if info, err := (Process{}).Stat(); err == nil {
		t.Errorf("of no process: %+v", info)
	}
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p, err := Open(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	of, err := Of(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := p.Stat(); err != nil || info.Parent != of.Parent || info.Started != of.Started || info.Exiting {
		t.Errorf("%+v, %v, want %+v", info, err, of)
	}
	stdin.Close()
	cmd.Wait()
	if info, err := p.Stat(); err == nil {
		t.Errorf("after its end: %+v", info)
	}
	p.Close()
	if info, err := p.Stat(); err == nil {
		t.Errorf("after Close: %+v", info)
	}
	if p, err := Open(cmd.Process.Pid); err == nil {
		t.Errorf("a process that is gone is opened: %+v", p)
	}
}

// A process that runs is among all processes.
func TestProcesses(t *testing.T) {
	if list := Processes(); !slices.Contains(list, os.Getpid()) {
		t.Errorf("this process, %d, is not among %v", os.Getpid(), list)
	}
}
