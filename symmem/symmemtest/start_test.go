package symmemtest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/rendezvous/storetest"
	"github.com/symmrepl/symmrepl/internal/pace"
	"github.com/symmrepl/symmrepl/internal/shortdir"
	"github.com/symmrepl/symmrepl/symmem"
)

// startsVariable makes the test binary a program that begins with Start.
const startsVariable = "SYMMTEST_STARTS"

// startedProgram is a compiled program with the number of ranks in the environment. With "leave"
// rank 1 ends before the others, with "vanish" hosts become silent.
func startedProgram() {
	world := symmem.MustStart()
	if os.Getenv(startsVariable) == "heap" {
		heapProgram(world)
	}
	if os.Getenv(startsVariable) == "vanish" {
		vanishingProgram(world)
	}
	if os.Getenv(startsVariable) == "bereft" {
		bereftProgram(world)
	}
	if os.Getenv(startsVariable) == "survive" {
		survivingProgram(world)
	}
	if os.Getenv(startsVariable) == "leave" && symmem.Rank() == 1 {
		world.Close()
		os.Exit(0)
	}
	if err := symmem.Maybe(symmem.Meet); err != nil {
		fmt.Println(err)
		world.Close()
		os.Exit(3)
	}
	t := symmem.Empty(symmem.F32, 2).Fill(symmem.Rank() + 1)
	h := symmem.Rendezvous(t, symmem.LSA())
	fmt.Println(symmem.Rank(), "of", symmem.WorldSize(), symmem.OneShotAllReduce(t, "sum", h.Group()).Float32s())
	world.Close()
	os.Exit(0)
}

// bereftProgram: the last of three ranks is killed. The others share its host: one waits for it in
// its kernels, the other waits for a word that any rank may set. Before that, these two have met
// without the third.
func bereftProgram(world *symmem.Runtime) {
	rank := symmem.Rank()
	x := symmem.Empty(symmem.F32, 4).Fill(1)
	h := symmem.Rendezvous(x)
	pair := symmem.NewGroup(0, 1)
	h.Barrier(0)
	symmem.Synchronize()
	if rank == 2 {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	near := symmem.Rendezvous(pair.Empty(symmem.F32, 1), pair)
	for range 30 { // the death comes meanwhile, and affects no rank
		near.Barrier(0)
		symmem.Synchronize()
		time.Sleep(10 * time.Millisecond)
	}
	wait := func() { symmem.AllReduce(x, "sum") }
	if rank == 1 {
		wait = func() { h.WaitForSignal(0, "==", 1) }
	}
	began := time.Now()
	err := symmem.Maybe(func() { wait(); symmem.Synchronize() })
	var e *symmem.Error
	if errors.As(err, &e) {
		fmt.Println(e.Kind, e.Op, e.Peer, e.Msg[strings.Index(e.Msg, "and gave up"):])
	}
	if took := time.Since(began); took > pace.Unhurried(2*time.Second) {
		fmt.Println("it took", took)
	}
	world.Close()
	os.Exit(0)
}

// survivingProgram: one of four ranks is killed while the others reduce with it. They catch the
// error and go on in a group of their own.
func survivingProgram(world *symmem.Runtime) {
	x := symmem.Empty(symmem.F32, 4).Fill(1)
	h := symmem.Rendezvous(x)
	h.Barrier(0)
	symmem.Synchronize()
	if symmem.Rank() == 2 {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	err := symmem.Maybe(func() { symmem.AllReduce(x, "sum"); symmem.Synchronize() })
	var e *symmem.Error
	errors.As(err, &e)
	g := symmem.Survivors()
	y := g.Empty(symmem.F32, 2).Fill(symmem.Rank() + 1)
	symmem.Rendezvous(y)
	fmt.Println(e.Kind, e.Hint, g, symmem.AllReduce(y, "sum", g).Float32s(), symmem.Maybe(symmem.Meet))
	y.Free()
	g.Free()
	world.Close()
	os.Exit(0)
}

// startAll runs a process with each of these environments to its end and returns their output, in
// order.
func startAll(t *testing.T, what string, environs ...string) []string {
	t.Helper()
	dir := shortdir.New(t)
	var cmds []*exec.Cmd
	outs := make([]bytes.Buffer, len(environs))
	for i, environ := range environs {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append([]string{startsVariable + "=" + what, "SYMMREPL_DEVICE=cpu", "XDG_RUNTIME_DIR=" + dir,
			"PATH=" + os.Getenv("PATH")}, strings.Fields(environ)...)
		cmd.Stdout, cmd.Stderr = &outs[i], &outs[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer time.AfterFunc(endLimit, func() { cmd.Process.Kill() }).Stop()
		cmds = append(cmds, cmd)
	}
	var said []string
	for i, cmd := range cmds {
		cmd.Wait()
		said = append(said, outs[i].String()+fmt.Sprint("status ", cmd.ProcessState.ExitCode()))
	}
	if left, _ := os.ReadDir(fmt.Sprintf("%s/symmrepl-%d", dir, os.Getuid())); len(left) > 0 &&
		what != "bereft" { // a rank that was killed leaves its folder
		t.Errorf("left behind: %v", left)
	}
	return said
}

func TestStart(t *testing.T) {
	check := func(got []string, want ...string) {
		t.Helper()
		for i := range want {
			if !strings.Contains(got[i], want[i]) || len(got) != len(want) {
				t.Errorf("process %d of %d: %q, want %q", i, len(got), got[i], want[i])
			}
		}
	}
	check(startAll(t, "sum", ""), "0 of 1 [1 1]\nstatus 0")
	check(startAll(t, "sum", "RANK=0 WORLD_SIZE=3", "RANK=1 WORLD_SIZE=3", "RANK=2 WORLD_SIZE=3"),
		"0 of 3 [6 6]\nstatus 0", "1 of 3 [6 6]\nstatus 0", "2 of 3 [6 6]\nstatus 0")
	torchrun := "WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT=29511 TORCHELASTIC_RUN_ID=none TORCHELASTIC_USE_AGENT_STORE=True "
	check(startAll(t, "sum", torchrun+"RANK=1 LOCAL_RANK=1", torchrun+"RANK=0 LOCAL_RANK=0"),
		"1 of 2 [3 3]\nstatus 0", "0 of 2 [3 3]\nstatus 0")
	check(startAll(t, "leave", "RANK=0 WORLD_SIZE=2", "RANK=1 WORLD_SIZE=2"),
		"Meet on rank 0: rank 1 died (every member of the group must make this call)\nstatus 3", "status 0")
	check(startAll(t, "bereft", "RANK=0 WORLD_SIZE=3", "RANK=1 WORLD_SIZE=3", "RANK=2 WORLD_SIZE=3"),
		"peer all_reduce 2 and gave up: rank 2 died\nstatus 0",
		"peer wait_for_signal 2 and gave up: rank 2 died\nstatus 0", "status -1")
	const goOn = "symm.Survivors() makes a group of the ranks that are left"
	survived := func(r int) string {
		return fmt.Sprintf("peer %s group 0,1,3 [7 7] Meet on rank %d: rank 2 died (%s)\nstatus 0", goOn, r, goOn)
	}
	check(startAll(t, "survive", "RANK=0 WORLD_SIZE=4", "RANK=1 WORLD_SIZE=4", "RANK=2 WORLD_SIZE=4", "RANK=3 WORLD_SIZE=4"),
		survived(0), survived(1), "status -1", survived(3))
	check(startAll(t, "sum", "RANK=5 WORLD_SIZE=2"), "Start on rank 5: RANK and WORLD_SIZE say that this is rank 5 of 2; ranks count from 0\nstatus 1")
	check(startAll(t, "sum", "RANK=1 WORLD_SIZE=4 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2"),
		"Start on rank 1: torchrun does not say where rank 0 is: set MASTER_ADDR and MASTER_PORT, or give --rdzv host:port\nstatus 1")
}

// The ranks of two launchers meet over the network; ranks that can share memory are on one host,
// unless two hosts are simulated.
func TestStartOnTwoHosts(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // rank 0 listens there
	hosts := fmt.Sprintf("WORLD_SIZE=4 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=%d ",
		l.Addr().(*net.TCPAddr).Port) + "SYMMREPL_TOKEN=0123456789abcdef0123456789abcdef "
	address, port := storetest.Start(t) // the agents of torchrun listen at MASTER_PORT themselves
	agents := fmt.Sprintf("MASTER_ADDR=%s MASTER_PORT=%d TORCHELASTIC_USE_AGENT_STORE=True TORCHELASTIC_RUN_ID=two ", address, port) +
		"WORLD_SIZE=4 LOCAL_WORLD_SIZE=2 SYMMREPL_TOKEN=0123456789abcdef0123456789abcdef "
	one := "WORLD_SIZE=4 MASTER_PORT=29514 SYMMREPL_HOSTS=0-1/2-3 SYMMREPL_NET=null "
	all := func(environ string, local bool) (list []string) {
		for r := range 4 {
			list = append(list, environ+fmt.Sprintf("RANK=%d", r))
			if local {
				list[r] += fmt.Sprintf(" LOCAL_RANK=%d", r%2)
			}
		}
		return list
	}
	for _, test := range []struct {
		environs []string
		want     [4]string
	}{
		{all(hosts, true), [4]string{"0 of 4 [10 10]\nstatus 0", "1 of 4 [10 10]\nstatus 0", "2 of 4 [10 10]\nstatus 0",
			"3 of 4 [10 10]\nstatus 0"}},
		{all(agents, true), [4]string{"0 of 4 [10 10]\nstatus 0", "1 of 4 [10 10]\nstatus 0", "2 of 4 [10 10]\nstatus 0",
			"3 of 4 [10 10]\nstatus 0"}},
		{all(one, false), [4]string{"0 of 4 [3 3]\nstatus 0", "1 of 4 [3 3]\nstatus 0", "2 of 4 [7 7]\nstatus 0", "3 of 4 [7 7]\nstatus 0"}},
	} {
		for r, said := range startAll(t, "sum", test.environs...) {
			if said != test.want[r] {
				t.Errorf("%s: rank %d: %q, want %q", test.environs[r], r, said, test.want[r])
			}
		}
	}
	for environ, want := range map[string]string{
		hosts + "RANK=1 LOCAL_RANK=1 SYMMREPL_HOSTS=2": "Start on rank 1: SYMMREPL_HOSTS simulates the hosts 0-1/2-3, but the ranks are on several already: 2 of 4 on this one " +
			"(set SYMMREPL_HOSTS otherwise, or not at all)\nstatus 1",
		"WORLD_SIZE=4 RANK=1 SYMMREPL_HOSTS=3": `Start on rank 1: hosts "3": 4 ranks cannot be divided among 3 hosts: each must have as many as the others ` +
			"(set SYMMREPL_HOSTS otherwise, or not at all)\nstatus 1",
		strings.Replace(hosts, "SYMMREPL_TOKEN", "HOME=/nonexistent X",
			1) + "RANK=1 LOCAL_RANK=1": "ranks on several hosts need a shared secret: set SYMMREPL_TOKEN on all of them",
	} {
		if said := startAll(t, "sum", environ)[0]; !strings.Contains(said, want) {
			t.Errorf("%s: %q, want %q", environ, said, want)
		}
	}
}
