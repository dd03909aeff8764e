package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// onTwoHosts runs the program as torchrun does on two hosts with two ranks each, and returns the
// output of rank 0. This machine plays both hosts; if apart, they do not see each other's folders,
// like real hosts.
func onTwoHosts(t *testing.T, apart bool, args ...string) result {
	h := newHome(t, 4)
	port := freePort(t)
	h.env = []string{"WORLD_SIZE=4", "LOCAL_WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1", fmt.Sprintf("MASTER_PORT=%d", port),
		"SYMMREPL_TOKEN=" + strings.Repeat("0123456789abcdef", 2), "SYMMREPL_NET=none"}
	args = append(args, "--device", "cpu")
	rank := func(r int) string { return fmt.Sprintf("RANK=%d LOCAL_RANK=%d", r, r%2) }

	first := h.command(args...)
	first.Env = append(first.Env, strings.Fields(rank(1))...)
	second := h.command(args...)
	script := rank(2) + ` "$@" & ` + rank(3) + ` "$@"; wait`
	if apart {
		needOwnMounts(t, second.Env)
		script = hidden + script
		second.SysProcAttr = ownMounts()
	}
	second.Path, second.Args = "/bin/sh", append([]string{"sh", "-c", script, "sh", second.Path}, args...)
	for _, cmd := range []*exec.Cmd{second, first} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	}
	h.env = append(h.env, strings.Fields(rank(0))...)
	return h.run("", args...)
}

// ownMounts returns the attributes of a process with its own mounts, which no other process sees.
func ownMounts() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
}

// If a launcher describes two hosts but all ranks are on one, all ranks share memory.
func TestTwoHostsThatAreOne(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("../../tutorials/ring.out")
	if err != nil {
		t.Fatal(err)
	}
	if r := onTwoHosts(t, false, "run", "../../tutorials/ring.go"); r.status != 0 || r.out != string(want) {
		t.Errorf("%+v, want\n%s", r, want)
	}
}

// spanning is a script for a world on two hosts with two ranks each. It calls the operations that
// work there and some that are refused. The ranks of each host share memory.
const spanning = `
// %%
rank := symm.Rank()
fmt.Println(symm.World().LSA(), symm.World().Rail(), symm.LSA() == symm.World().LSA(), symm.Rail().Rail() == symm.Rail())
// %%
t := symm.Empty(symm.F32, 4).Fill(rank)
h := symm.Rendezvous(t)
for i, p := range h.BufferPtrs() {
	fmt.Print(p != 0, h.SignalPadPtrs()[i] != 0, " ")
}
// %%
across := (rank + 2) % 4
for _, f := range []func(){
	func() { symm.OneShotAllReduce(t, "sum") },
	func() { h.GetRemoteTensor(across) },
	func() { h.GetSignalPad(across) },
	func() { symm.UseMemPool(func() {}) },
	func() { h.Barrier(0) },
	func() { h.Put(across, t) },
	func() { h.PutSignal(across, 0) },
	func() { h.WaitSignal(across, 0, symm.Timeout(time.Second)) },
} {
	fmt.Println(symm.Maybe(f))
}
// %%
h.Put(rank^1, symm.Local(symm.F32, 4).Fill(rank * 10))
h.PutSignal(rank^1, 0)
h.WaitSignal(rank^1, 0)
t.Float32s()
// %%
host := symm.LSA()
hh := symm.Rendezvous(t, host)
symm.AllReduce(t, "sum", host).Float32s()
// %%
symm.Recover()
hh.Barrier(0)
hh.GetBuffer(1-hh.Rank(), symm.F32, 4).Float32s()
// %%
across2 := symm.NewGroup(1, 2)
if across2.Rank() >= 0 {
	u := across2.Empty(symm.I32, 1)
	symm.Rendezvous(u)
	fmt.Println(across2.LSA(), across2.Rail() == across2, symm.Maybe(func() { across2.LSA().Free() }), symm.Maybe(across2.Free))
	u.Free()
	across2.Free()
}
// %%
t.Free()
symm.Meet()
symm.PendingSignals()
`

// spanningSays is the output of spanning.
var spanningSays = []string{
	"[0] LSA team 0,1 rail 0,2 true true\n[1] LSA team 0,1 rail 1,3 true true\n[2] LSA team 2,3 rail 0,2 true true\n[3] LSA team 2,3 rail 1,3 true true\n",
	"[0,1] true true true true false false false false \n[2,3] false false false false true true true true \n",
	"[0] one_shot_all_reduce on rank 0: rank 2 is on another host, and world has no pointer to its memory (use the ranks of this host, which are 0,1: g.LSA())\n",
	"[3] one_shot_all_reduce on rank 3: rank 0 is on another host, and world has no pointer to its memory (use the ranks of this host, which are 2,3: g.LSA())\n",
	"[1] GetRemoteTensor on rank 1: rank 3 is on another host, and world has no pointer to its memory (",
	"[2] GetSignalPad on rank 2: rank 0 is on another host, and world has no pointer to its memory (",
	"[2] UseMemPool on rank 2: no engine carries UseMemPool between hosts, and rank 0 is on another one; rank 0 has no network: none was chosen (",
	"[0] barrier on rank 0: no engine carries barrier between hosts, and rank 2 is on another one; rank 0 has no network: none was chosen (use the ranks of this host, which are 0,1: g.LSA())\n",
	"[0] put on rank 0: no engine carries put between hosts, and rank 2 is on another one; rank 0 has no network: none was chosen (",
	"[3] put_signal on rank 3: no engine carries put_signal between hosts, and rank 1 is on another one; rank 0 has no network: none was chosen (",
	"[1] wait_signal on rank 1: no engine carries wait_signal between hosts, and rank 3 is on another one; rank 0 has no network: none was chosen (",
	"[0] []float32{10, 10, 10, 10}\n[1] []float32{0, 0, 0, 0}\n[2] []float32{30, 30, 30, 30}\n[3] []float32{20, 20, 20, 20}\n" +
		"[0,1] []float32{10, 10, 10, 10}\n[2,3] []float32{50, 50, 50, 50}\n[0,1] []float32{10, 10, 10, 10}\n[2,3] []float32{50, 50, 50, 50}\n",
	"[1] LSA team 1 true Group.Free on rank 1: the LSA team 1 is a team of group 1,2 (free group 1,2, which ends its teams too) " +
		"Group.Free on rank 1: tensor i32[1] of group 1,2 is still allocated (free its tensors first)\n",
	"[0-3] []string(nil)\n",
}

func checkSpanning(t *testing.T, r result) {
	t.Helper()
	for _, part := range spanningSays {
		if r.status != 0 || !strings.Contains(r.out, part) {
			t.Errorf("%q is not in the output, which ends with status %d:\n%s%s", part, r.status, r.out, r.err)
		}
	}
}

// A session on two hosts has one prompt.
func TestTwoHosts(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "hosts.go")
	if err := os.WriteFile(script, []byte(spanning), 0o600); err != nil {
		t.Fatal(err)
	}
	checkSpanning(t, onTwoHosts(t, true, "run", script))
}

// At a prompt on simulated hosts: where the ranks are, which calls are refused, and what the other
// hosts lose when a rank is killed.
func TestPromptOnHosts(t *testing.T) {
	t.Parallel()
	h := newHome(t, 4)
	h.env = append(h.env, "SYMMREPL_NET=null")
	x := h.terminal("-n", "4", "--hosts", "2", "--device", "cpu")
	x.expect("4 ranks on 2 hosts, cpu.")
	x.enter(":ranks")
	for rank := range 4 {
		x.expect(fmt.Sprintf("\n%d ", rank))
		x.expect(fmt.Sprintf("/h%d ", rank/2))
	}
	x.enter(":topo")
	x.expect("other host: the null network carries traffic to it")
	x.enter(":caps")
	x.expect("2, simulated, with the ranks 0,1 and 2,3; the null network carries traffic between them")
	x.enter("t := symm.Empty(symm.F32, 2).Fill(symm.Rank() + 1); l := symm.LSA(); u := l.Empty(symm.F32, 2).Fill(symm.Rank() + 1); symm.Rendezvous(u); g := symm.NewGroup(0, 1, 2, 3)")
	x.enter(`symm.AllReduce(u, "sum").Float32s()`)
	x.expect("[0,1] []float32{3, 3}\n")
	x.expect("[2,3] []float32{7, 7}\n")
	x.enter(`symm.OneShotAllReduce(t, "sum")`)
	x.expect("[0,1] cell[3]:1:1: one_shot_all_reduce: rank 2 is on another host, and world has no pointer to its memory\n")
	x.expect("[2,3] cell[3]:1:1: one_shot_all_reduce: rank 0 is on another host, and world has no pointer to its memory\n")
	x.expect("hint: AllReduce goes over hosts; or use the ranks of this host, which are 2,3: g.LSA()\n")
	x.enter(`h := symm.Rendezvous(t); across := (symm.Rank() + 2) % 4; h.Put(across, symm.Local(symm.F32, 2).Fill(10 * symm.Rank())); h.PutSignal(across, 0); h.WaitSignal(across, 0); fmt.Println("put", t.Float32s())`)
	for rank := range 4 {
		x.expect(fmt.Sprintf("[%d] put [%d %d]\n", rank, (rank+2)%4*10, (rank+2)%4*10))
	}
	x.enter(`if symm.Rank() == 0 { h.WaitSignal(3, 1) }`)
	x.expect("for a signal of rank 3 on channel 1, which never came: rank 3 has finished the cell")
	x.expect("waits in wait_signal at cell[5]:1 for rank 3: a signal on channel 1 (network to rank 3: ")
	// Rank 3 is killed in a cell that the other ranks have finished.
	x.stuck(3, syscall.SIGKILL)
	x.expect("rank 3 was killed (SIGKILL): a fresh worker took over")
	x.expect("lost: group 0,1,2,3")
	x.expect("lost: rank 3's part of the symmetric tensor f32[2] of LSA team 2,3")
	// LSA team 0,1 goes on with its tensors. LSA team 2,3, the world and the rails were built
	// again.
	x.enter(`if symm.Rank() < 2 { fmt.Println("sum", symm.AllReduce(u, "sum").Float32s()) }`)
	x.expect("[0,1] sum [6 6]\n")
	x.enter(`v := symm.Empty(symm.F32, 2).Fill(symm.Rank() + 1); symm.Rendezvous(v, symm.LSA()); symm.AllReduce(v, "sum", symm.LSA()).Float32s()`)
	x.expect("[0,1] []float32{3, 3}\n")
	x.expect("[2,3] []float32{7, 7}\n")
	x.enter(`symm.NewGroup(1, 3).Free(); symm.Rail().Empty(symm.U8, 1).Free(); fmt.Println("the", "rails", symm.Rail().Ranks())`)
	x.expect("[0,2] the rails [0 2]\n")
	x.expect("[1,3] the rails [1 3]\n")
	x.enter(`if symm.Rank() != 3 { fmt.Println("same", "team", symm.LSA() == l, symm.Maybe(func() { g.LSA() })) }`)
	x.expect("same team true LSA on rank 2: group 0,1,2,3 cannot be used: rank 3 was replaced")
	x.enter(":quit!")
	x.exit(0)
	h.expectNothingLeft()
}

// Eight ranks on four hosts: each rail has four ranks.
func TestPromptOnFourHosts(t *testing.T) {
	t.Parallel()
	h := newHome(t, 8)
	x := h.terminal("-n", "8", "--hosts", "0-1/2-3/4-5/6-7", "--net", "null", "--device", "cpu")
	x.expect("8 ranks on 4 hosts, cpu.")
	x.enter(`t := symm.Empty(symm.I32, 1).Fill(symm.Rank()); symm.Rendezvous(t, symm.LSA()); fmt.Println("of", symm.AllReduce(t, "sum", symm.LSA()).Ints(), symm.Rail().Ranks(), symm.Rail().Rank())`)
	for rank := range 8 {
		x.expect(fmt.Sprintf("[%d] of [%d] [%d %d %d %d] %d\n", rank, rank/2*4+1, rank%2, rank%2+2, rank%2+4, rank%2+6, rank/2))
	}
	x.enter(`symm.Recover(); half := symm.NewGroup(0, 1, 6, 7); fmt.Println("half", half.Rank()); if half.Rank() >= 0 { fmt.Println("rail", half.Rail()); half.Free() }`)
	x.expect("[0,6] rail rail 0,6\n")
	x.expect("[1,7] rail rail 1,7\n")
	x.enter(":quit!")
	x.exit(0)
	h.expectNothingLeft()
}

// Ranks on simulated hosts behave as ranks on real hosts.
func TestSimulatedHosts(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "hosts.go")
	if err := os.WriteFile(script, []byte(spanning), 0o600); err != nil {
		t.Fatal(err)
	}
	h := newHome(t, 4)
	h.env = append(h.env, "SYMMREPL_NET=none")
	checkSpanning(t, h.run("", "run", script, "-n", "4", "--hosts", "0-1/2-3", "--device", "cpu"))
	h.env = append(h.env, "SYMMREPL_HOSTS=2")
	checkSpanning(t, h.run("", "run", script, "-n", "4", "--device", "cpu"))
}

// Without UCX a session on simulated hosts does not start, and the error suggests the null network.
func TestSimulatedWithoutUCX(t *testing.T) {
	t.Parallel()
	h := newHome(t, 4)
	h.env = append(h.env, "SYMMREPL_UCX_LIB=/nowhere", "SYMMREPL_NET=")
	r := h.run("", "-n", "4", "--hosts", "2", "--device", "cpu", "-e", "1")
	const repair = "(--net null, or SYMMREPL_NET=null, needs no library between simulated hosts; "
	const want = "Init: rank 0 has no network: UCX cannot be used: SYMMREPL_UCX_LIB is /nowhere, where there is no libucp.so.0; "
	if r.status == 0 || !strings.Contains(r.err, want) || !strings.Contains(r.err, repair) {
		t.Errorf("status %d, want %q and a hint in\n%s", r.status, want, r.err)
	}
}

// If a launcher starts ranks on several hosts, --hosts is refused.
func TestSimulatedAmongRealHosts(t *testing.T) {
	t.Parallel()
	h := newHome(t, 4)
	h.env = []string{"RANK=1", "LOCAL_RANK=1", "WORLD_SIZE=4", "LOCAL_WORLD_SIZE=2", "MASTER_ADDR=192.0.2.1", "MASTER_PORT=1"}
	const want = "symmrepl: the hosts 0-1/2-3 cannot be simulated: torchrun has started 2 of 4 processes on this host; leave --hosts and SYMMREPL_HOSTS out\n"
	if r := h.run("", "-e", "1", "--hosts", "2", "--device", "cpu"); r.status != 2 || !strings.HasPrefix(r.err, want) {
		t.Errorf("%+v, want %s", r, want)
	}
}

// A host freezes while a user is at the prompt. Waits for its ranks end and name the rank, and the
// other host goes on. Before that, a supervisor stops for less than the heartbeat, which does no
// harm.
func TestPromptLosesHost(t *testing.T) {
	t.Parallel()
	h := newHome(t, 4)
	h.env = []string{"WORLD_SIZE=4", "LOCAL_WORLD_SIZE=4", "SYMMREPL_TOKEN=" + strings.Repeat("0123456789abcdef", 2),
		"SYMMREPL_HEARTBEAT=5s"}
	rank := func(r int) []string { return []string{fmt.Sprintf("RANK=%d", r), fmt.Sprintf("LOCAL_RANK=%d", r)} }
	args := []string{"--device", "cpu", "--hosts", "2", "--net", "null", "--rdzv", fmt.Sprintf("127.0.0.1:%d", freePort(t))}
	var others []*exec.Cmd
	errs := make([]bytes.Buffer, 4)
	for r := 1; r < 4; r++ {
		cmd := h.command(args...)
		cmd.Env = append(cmd.Env, rank(r)...)
		cmd.Stderr = &errs[r]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		others = append(others, cmd)
	}
	far := others[1:] // the supervisors of ranks 2 and 3
	h.env = append(h.env, rank(0)...)
	h.env = append(h.env, "SYMMREPL_DEADLOCK=wait") // a wait lasts until the host is lost
	x := h.terminal(args...)
	x.expect("4 ranks on 2 hosts, cpu.")
	x.enter("h := symm.Rendezvous(symm.Empty(symm.I32, 1)); h.Barrier(0)")
	far[0].Process.Signal(syscall.SIGSTOP)
	time.Sleep(3 * time.Second)
	far[0].Process.Signal(syscall.SIGCONT)
	x.enter(`h.Barrier(0); symm.Synchronize(); fmt.Println("all", "met")`)
	x.expect("[0-3] all met\n")

	x.enter(`:on 0,1 if symm.Rank() == 0 { h.WaitSignal(3, 1) }`)
	x.expect("for rank 3: a signal on channel 1 (network to rank 3: ")
	for _, cmd := range far {
		cmd.Process.Signal(syscall.SIGSTOP)
	}
	name, _ := os.Hostname()
	gone := "its host " + name + "/h1 is silent: no heartbeat for 5s\n"
	x.expect("but rank 3 on host 1 is gone: " + gone)
	x.enter(`:on 0 h.WaitSignal(2, 1)`)
	x.expect("rank 2 on host 1 is gone: " + gone)
	x.enter(`:on 0,1 h.PutSignal(symm.Rank()^1, 3); h.WaitSignal(symm.Rank()^1, 3); symm.Synchronize(); fmt.Println("still", "here")`)
	x.expect("[0,1] still here\n")
	x.enter(`fmt.Println("all")`)
	x.expect("[2,3] rank 2,3 has no worker: " + gone)
	for i, cmd := range far {
		cmd.Process.Signal(syscall.SIGCONT)
		end(t, fmt.Sprint("rank ", i+2), cmd)
		if said := errs[i+2].String(); cmd.ProcessState.ExitCode() != 3 || !strings.Contains(said, "symmrepl: rank 0 is gone") {
			t.Errorf("rank %d: status %d, %s", i+2, cmd.ProcessState.ExitCode(), said)
		}
	}
	x.enter(":quit!")
	x.exit(0)
	h.expectNothingLeft()
}
