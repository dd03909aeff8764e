package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/pace"
)

// A host of two ranks ends or freezes while all ranks are idle. The prompt reports the loss in
// time. Cells go on in a group of the surviving ranks, also after one of the survivors was
// replaced. The session does not admit the lost host again, and the host leaves nothing behind.
func TestSurvivors(t *testing.T) {
	for _, loss := range []struct {
		name   string
		signal syscall.Signal
		silent time.Duration // how long the session waits for a sign of life
		within time.Duration // how soon after that it must report the loss
		why    string
	}{
		{"killed", syscall.SIGKILL, 0, 2 * time.Second, "its supervisor is gone (the connection ended)"},
		{"frozen", syscall.SIGSTOP, 10 * time.Second, 2 * time.Second, "is silent: no heartbeat for 10s"},
	} {
		for _, network := range []string{"null", "ucx"} {
			t.Run(loss.name+"/"+network, func(t *testing.T) {
				t.Parallel()
				if network == "ucx" {
					needUCX(t)
				}
				if testing.Short() && loss.signal == syscall.SIGSTOP {
					t.Skip("-short: the silence of a host takes 10 s")
				}
				h := newHome(t, 4)
				h.env = []string{"WORLD_SIZE=4", "LOCAL_WORLD_SIZE=4", "SYMMREPL_TOKEN=" + strings.Repeat("0123456789abcdef", 2)}
				args := []string{"--device", "cpu", "--hosts", "2", "--net", network, "--rdzv", fmt.Sprintf("127.0.0.1:%d", freePort(t))}
				place := func(r int) []string { return []string{fmt.Sprint("RANK=", r), fmt.Sprint("LOCAL_RANK=", r)} }
				errs := make([]bytes.Buffer, 4)
				others := make([]*exec.Cmd, 4)
				for r := 1; r < 4; r++ {
					others[r] = h.command(args...)
					others[r].Env = append(others[r].Env, place(r)...)
					others[r].Stderr = &errs[r]
					if err := others[r].Start(); err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { others[r].Process.Kill(); h.killLeft() })
				}
				h.env = append(h.env, place(0)...)
				x := h.terminal(args...)
				x.expect("4 ranks on 2 hosts, cpu.")
				x.enter(`t := symm.Empty(symm.F32, 2).Fill(1); h := symm.Rendezvous(t); h.Barrier(0); symm.Synchronize(); fmt.Println("all", "met")`)
				x.expect("[0-3] all met\n")

				var host []int
				for _, r := range []int{2, 3} {
					host = append(host, others[r].Process.Pid)
					host = append(host, childrenOf(others[r].Process.Pid)...)
				}
				for _, pid := range host {
					syscall.Kill(pid, loss.signal)
				}
				lost := time.Now()
				x.expect(" is lost: ")
				x.expect(loss.why)
				if d, limit := time.Since(lost), loss.silent+pace.Unhurried(loss.within); d > limit {
					t.Errorf("the loss was reported after %v, want within %v", d, limit)
				} else {
					t.Logf("the loss was reported after %v", d.Round(10*time.Millisecond))
				}
				x.expect("; the remaining ranks are 0,1: symm.Survivors() makes a group of them")
				x.enter(`fmt.Println("plain")`)
				x.expect("[2,3] rank 2,3 has no worker: ")
				x.enter(`:on 0,1 symm.Meet()`)
				x.expect(" was lost: ")
				x.expect("hint: symm.Survivors() makes a group of the ranks that are left")
				goOn(x, 1)
				x.enter(`symm.AllReduce(t, "sum")`)
				x.expect("world cannot be used: rank 2 is gone")
				x.expect("symm.Survivors() makes a group of the ranks that are left")
				x.stuck(1, syscall.SIGKILL)
				x.expect("rank 1 was killed (SIGKILL): a fresh worker took over")
				x.enter(`:on 0 fmt.Println("kept", t.Float32s()[1])`) // rank 0 was not replaced
				x.expect("[0] kept 1\n")
				goOn(x, 2)
				x.enter(`if symm.Rank() == 0 { symm.Rendezvous(g2.Empty(symm.U8, 1), g2) }`) // rank 1 does not take part
				x.expect("rank 1 finished the cell without it")
				goOn(x, 3)

				again := h.command(args...)
				again.Env = append(again.Env, place(2)...)
				said, _ := again.CombinedOutput()
				if want := "it cannot come back: leave the session at rank 0, and start it again on all hosts"; !strings.Contains(string(said), "rank 2 was lost: ") || !strings.Contains(string(said), want) {
					t.Errorf("a process that takes the place of rank 2 says %q", said)
				}
				if loss.signal == syscall.SIGSTOP {
					for _, pid := range host {
						syscall.Kill(pid, syscall.SIGCONT)
					}
				}
				for _, r := range []int{2, 3} {
					end(t, fmt.Sprint("rank ", r), others[r])
					if text := errs[r].String(); loss.signal == syscall.SIGSTOP && !strings.Contains(text, "start it again on all hosts") {
						t.Errorf("rank %d of the host that comes back says %q", r, text)
					}
				}
				folders, _ := filepath.Glob(h.dir + "/run/symmrepl-*/s*")
				for deadline := time.Now().Add(patience()); len(folders) != 2 &&
					time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
					folders, _ = filepath.Glob(h.dir + "/run/symmrepl-*/s*")
				}
				if len(folders) != 2 {
					t.Errorf("the folders of processes are %v, not those of ranks 0 and 1 alone", folders)
				}
				goOn(x, 4)
				x.enter(":quit!")
				x.exit(0)
				h.expectNothingLeft()
			})
		}
	}
}

// goOn makes the ranks 0 and 1 create a group of the surviving ranks, reduce and put in it. Give
// each call in a session another number.
func goOn(x *terminal, number int) {
	x.t.Helper()
	n := strconv.Itoa(number)
	x.enter(strings.ReplaceAll(`g# := symm.Survivors(); u# := g#.Empty(symm.F32, 4).Fill(symm.Rank() + #); uh# := symm.Rendezvous(u#); fmt.Println("left", "#", g#.Ranks(), symm.AllReduce(u#, "sum", g#).Float32s()[3])`, "#", n))
	x.expect(fmt.Sprintf("[0,1] left %d [0 1] %d\n", number, 1+2*number))
	x.enter(strings.ReplaceAll(`uh#.Put(1-uh#.Rank(), symm.Local(symm.F32, 1).Fill(10*uh#.Rank() + #)); uh#.PutSignal(1-uh#.Rank(), 1); uh#.WaitSignal(1-uh#.Rank(), 1); fmt.Println("put", "#", u#.Float32s()[0])`, "#", n))
	x.expect(fmt.Sprintf("[0] put %d %d\n", number, 10+number))
	x.expect(fmt.Sprintf("[1] put %d %d\n", number, number))
}

// childrenOf lists the descendants of a process.
func childrenOf(pid int) (list []int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range tasks {
		text, _ := os.ReadFile(name)
		for _, word := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(word)
			list = append(append(list, child), childrenOf(child)...)
		}
	}
	return list
}
