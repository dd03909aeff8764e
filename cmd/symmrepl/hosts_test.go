package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// onTwoHosts runs the program as torchrun does on two hosts with two ranks each, and returns what rank 0 says. The hosts are this
// one, twice; if apart, they do not see each other's folders, as hosts do not.
func onTwoHosts(t *testing.T, apart bool, args ...string) result {
	h := newHome(t, 4)
	port := freePort(t)
	h.env = []string{"WORLD_SIZE=4", "LOCAL_WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1", fmt.Sprintf("MASTER_PORT=%d", port),
		"SYMMREPL_TOKEN=" + strings.Repeat("0123456789abcdef", 2)}
	args = append(args, "--device", "cpu") // two ranks of one GPU would wait for each other
	rank := func(r int) string { return fmt.Sprintf("RANK=%d LOCAL_RANK=%d", r, r%2) }

	first := h.command(args...)
	first.Env = append(first.Env, strings.Fields(rank(1))...)
	second := h.command(args...)
	script := rank(2) + ` "$@" & ` + rank(3) + ` "$@"; wait`
	if apart {
		const hide = `mount -t tmpfs none "$TMPDIR" && mount -t tmpfs none "$XDG_RUNTIME_DIR"`
		script = hide + " || exit; " + script
		second.SysProcAttr = ownMounts()
		probe := exec.Command("/bin/sh", "-c", hide)
		probe.Env, probe.SysProcAttr = second.Env, ownMounts()
		if said, err := probe.CombinedOutput(); err != nil {
			t.Skipf("a process cannot have mounts of its own here: %v: %s", err, said)
		}
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

// freePort returns one at which nobody listens, and which the kernel gives to nobody who does not ask for it.
func freePort(t *testing.T) int {
	t.Helper()
	for range 1000 {
		port := 10000 + rand.IntN(20000)
		if l, err := net.Listen("tcp", fmt.Sprint(":", port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// ownMounts is for a process whose mounts only it sees.
func ownMounts() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
}

// Ranks that come by the network and can share memory after all do.
func TestTwoHostsThatAreOne(t *testing.T) {
	want, err := os.ReadFile("../../tutorials/ring.out")
	if err != nil {
		t.Fatal(err)
	}
	if r := onTwoHosts(t, false, "run", "../../tutorials/ring.go"); r.status != 0 || r.out != string(want) {
		t.Errorf("%+v, want\n%s", r, want)
	}
}

// On two hosts there is one prompt, and the ranks of each host share memory among themselves.
func TestTwoHosts(t *testing.T) {
	script := filepath.Join(t.TempDir(), "hosts.go")
	if err := os.WriteFile(script, []byte(`
// %%
rank := symm.Rank()
fmt.Println(symm.Maybe(func() { symm.Empty(symm.F32, 4) }))
fmt.Println(symm.Maybe(func() { symm.NewGroup(1, 2) }))
// %%
host := symm.NewGroup(rank/2*2, rank/2*2+1)
t := host.Empty(symm.F32, 4).Fill(rank)
h := symm.Rendezvous(t)
symm.AllReduce(t, "sum").Float32s()
// %%
symm.Recover()
h.Barrier(0)
h.GetBuffer(1-h.Rank(), symm.F32, 4).Float32s()
// %%
symm.Meet()
symm.PendingSignals()
`), 0o600); err != nil {
		t.Fatal(err)
	}
	r := onTwoHosts(t, true, "run", script)
	for _, part := range []string{
		"[0] Empty on rank 0: world cannot be used: its ranks are on several hosts, which share no memory: 0,1 and 2,3 (make a group of the ranks of one host, as NewGroup(0,1))\n",
		"[3] Empty on rank 3: world cannot be used: its ranks are on several hosts, which share no memory: 0,1 and 2,3 (make a group of the ranks of one host, as NewGroup(2,3))\n",
		"[0] NewGroup on rank 0: ranks 1 and 2 are on different hosts, which share no memory: 0,1 and 2,3\n",
		"[0,1] []float32{1, 1, 1, 1}\n[2,3] []float32{5, 5, 5, 5}\n[0,1] []float32{1, 1, 1, 1}\n[2,3] []float32{5, 5, 5, 5}\n[0-3] []string(nil)\n",
	} {
		if r.status != 0 || !strings.Contains(r.out, part) {
			t.Errorf("%q is not in what ended with %d:\n%s%s", part, r.status, r.out, r.err)
		}
	}
}
