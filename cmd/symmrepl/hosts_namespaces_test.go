package main

import (
	"fmt"
	"net/netip"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/needs"
	"github.com/symmrepl/symmrepl/internal/pace"
)

// nodes are two network namespaces of this machine with a cable (a veth pair) between them. They
// stand for two hosts with one rank each, which share neither folders nor the loopback interface.
type nodes struct {
	home
	addresses [2]string
}

// newNodes makes two nodes with these addresses, both IPv4 or both IPv6.
func newNodes(t *testing.T, addresses [2]string) nodes {
	t.Helper()
	needs.Root(t, "it makes network namespaces")
	needs.Program(t, "ip")
	n := nodes{newHome(t, 2), addresses}
	n.env = []string{"SYMMREPL_TOKEN=" + strings.Repeat("0123456789abcdef", 2), "WORLD_SIZE=2", "LOCAL_WORLD_SIZE=1", "LOCAL_RANK=0",
		"MASTER_ADDR=" + addresses[0],
		fmt.Sprint("MASTER_PORT=", freePort(t))}
	for i := range 2 {
		if said, err := ip("netns", "add", n.name(i)); err != nil {
			t.Skipf("ip cannot make a network namespace here: %v: %s", err, said)
		}
		t.Cleanup(func() { ip("netns", "del", n.name(i)) })
	}
	if said, err := ip("link", "add", n.cable(0), "netns", n.name(0), "type", "veth", "peer", "name", n.cable(1), "netns",
		n.name(1)); err != nil {
		t.Skipf("ip cannot make a veth pair here: %v: %s", err, said)
	}
	width := "/24"
	if strings.Contains(addresses[0], ":") {
		width = "/64"
	}
	for i := range 2 {
		n.ip(i, "link", "set", "lo", "up")
		n.ip(i, append(strings.Fields("address add "+addresses[i]+width+" dev"), n.cable(i), "nodad")...)
		n.ip(i, "link", "set", n.cable(i), "up")
	}
	n.mended()
	return n
}

// mended waits until the kernel has noticed that the cable is connected.
func (n nodes) mended() {
	n.t.Helper()
	for deadline := time.Now().Add(patience()); ; time.Sleep(10 * time.Millisecond) {
		up := 0
		for i := range 2 {
			if said, _ := ip("-n", n.name(i), "-o", "link", "show", n.cable(i)); strings.Contains(said, "state UP") {
				up++
			}
		}
		if up == 2 {
			return
		}
		if time.Now().After(deadline) {
			n.t.Fatal("the cable does not come up")
		}
	}
}

// name returns the name of a node's namespace, and cable the name of its interface.
func (n nodes) name(i int) string  { return fmt.Sprintf("symmrepl-%s-%d", filepath.Base(n.dir), i) }
func (n nodes) cable(i int) string { return fmt.Sprint("cable", i) }

func ip(args ...string) (string, error) {
	said, err := exec.Command("ip", args...).CombinedOutput()
	return string(said), err
}

// ip runs a command of ip(8) in a node.
func (n nodes) ip(i int, args ...string) {
	n.t.Helper()
	if args[len(args)-1] == "nodad" && !strings.Contains(n.addresses[0], ":") {
		args = args[:len(args)-1] // IPv4 has no duplicate address detection to switch off
	}
	if said, err := ip(append([]string{"-n", n.name(i)}, args...)...); err != nil {
		n.t.Fatalf("ip %v: %v: %s", args, err, said)
	}
}

// cut cuts the cable, and mend connects it again. Programs get no error while it is cut: packets
// are lost.
func (n nodes) cut() { n.ip(0, "link", "set", n.cable(0), "down") }
func (n nodes) mend() {
	n.ip(0, "link", "set", n.cable(0), "up")
	n.mended()
}

// on changes a program to run in a node, as the node's rank. The node has its own /sys, in which
// UCX finds the node's interfaces.
func (n nodes) on(i int, cmd *exec.Cmd) *exec.Cmd {
	cmd.Env = append(cmd.Env, fmt.Sprint("RANK=", i))
	script := strings.ReplaceAll(hidden, " || exit; ", ` && exec "$@"`)
	cmd.Args = append([]string{"ip", "netns", "exec", n.name(i), "sh", "-c", script, "sh", cmd.Path}, cmd.Args[1:]...)
	cmd.Path, _ = exec.LookPath("ip")
	return cmd
}

// session starts rank 1 in the second node, and rank 0 in the first node at a terminal.
func (n nodes) session(args ...string) (x *terminal, other *exec.Cmd) {
	n.t.Helper()
	args = append([]string{"--device", "cpu"}, args...)
	other = n.on(1, n.command(args...))
	if err := other.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { other.Process.Kill(); n.killLeft() })
	return n.terminalOf(n.on(0, n.command(args...))), other
}

// leave ends a session of two nodes.
func (n nodes) leave(x *terminal, other *exec.Cmd) {
	n.t.Helper()
	x.enter(":quit!")
	x.exit(0)
	if err := end(n.t, "rank 1", other); err != nil {
		n.t.Errorf("rank 1: %v", err)
	}
	n.expectNothingLeft()
}

// swap makes each rank put a number to the other and signal it.
func swap(x *terminal, number int) {
	x.t.Helper()
	x.enter(strings.ReplaceAll(`h.Put(1-symm.Rank(), symm.Local(symm.I32, 2).Fill(10*symm.Rank() + #)); h.PutSignal(1-symm.Rank(), 0); h.WaitSignal(1-symm.Rank(), 0); fmt.Println("got", t.Ints())`, "#", strconv.Itoa(number)))
	for rank := range 2 {
		x.expect(fmt.Sprintf("[%d] got [%d %d]\n", rank, 10*(1-rank)+number, 10*(1-rank)+number))
	}
}

// On two hosts with their own interfaces, UCX carries operations over the cable between them. When
// the cable is cut for a while, UCX reports no error. The table shows the wait, and the wait ends
// by its timeout, which names the rank that it waited for. When the cable is connected again, the
// data arrives and the session goes on.
func TestTwoNodes(t *testing.T) {
	t.Parallel()
	needUCX(t)
	n := newNodes(t, [2]string{"10.213.7.1", "10.213.7.2"})
	limit := min(pace.Unhurried(2500*time.Millisecond).Round(100*time.Millisecond), 20*time.Second)
	n.env = append(n.env, "SYMMREPL_HEARTBEAT=1m") // no host is to be lost meanwhile
	x, other := n.session()
	x.expect("2 ranks, cpu.")
	x.enter(":topo")
	x.expect(" on cable0 carries traffic to it")
	x.enter("t := symm.Empty(symm.I32, 2); h := symm.Rendezvous(t)")
	swap(x, 1)
	x.enter(fmt.Sprintf(`:on 0 fmt.Println("waits", "now"); h.WaitSignal(1, 1, symm.Timeout(%d)); symm.Synchronize()`, limit))
	x.expect("[0] waits now\n")
	n.cut()
	x.expect("rank 0  waits in wait_signal at cell[3]:1 for rank 1: a signal on channel 1 (network to rank 1: ")
	time.Sleep(limit - time.Second) // until the wait has timed out
	n.mend()
	x.expect("wait_signal: rank 0 waited")
	x.expect(" ")
	if took, err := time.ParseDuration(x.word()); err != nil || took < limit || took > limit+pace.Unhurried(time.Second/2) {
		t.Errorf("the wait took %v (%v), want %v", took, err, limit)
	}
	x.expect("for a signal of rank 1 on channel 1, which never came")
	x.enter("symm.Recover()")
	swap(x, 2)
	x.enter(`:on 0 fmt.Println("begins", "now"); time.Sleep(500 * time.Millisecond); h.PutWithSignal(1, symm.Local(symm.I32, 2).Fill(7), 5, 7); symm.Synchronize(); fmt.Println("it is", "sent")`)
	x.expect("[0] begins now\n")
	n.cut() // before the ranks send
	x.expect("[0] it is sent\n")
	n.mend()
	x.enter(`:on 1 h.WaitForSignal(5, "==", 7, symm.Timeout(30*time.Second)); fmt.Println("late", t.Ints())`)
	x.expect("[1] late [7 7]\n")
	swap(x, 3)
	n.leave(x, other)
}

// Over IPv6 the ranks find each other as over IPv4, and UCX uses an interface that has only IPv6
// addresses.
func TestTwoNodesIPv6(t *testing.T) {
	t.Parallel()
	needUCX(t)
	needs.IPv6(t)
	n := newNodes(t, [2]string{"fd13:7::1", "fd13:7::2"})
	n.env = append(n.env, "UCX_TCP_PORT_RANGE=31200-31231")
	x, other := n.session()
	x.expect("2 ranks, cpu.")
	x.enter(":topo")
	x.expect(" on cable0 carries traffic to it")
	x.enter("t := symm.Empty(symm.I32, 2); h := symm.Rendezvous(t)")
	swap(x, 1)
	listening := n.listening()
	for i, address := range n.addresses {
		at := slices.IndexFunc(listening, func(a netip.AddrPort) bool { return a.Addr() == netip.MustParseAddr(address) })
		if at < 0 || listening[at].Port() < 31200 || listening[at].Port() > 31231 {
			t.Errorf("rank %d does not listen at %s and a port from 31200 to 31231: %v", i, address, listening)
			continue
		}
		listening = slices.Delete(listening, at, at+1)
	}
	if len(listening) != 1 || !slices.Contains(n.env, fmt.Sprint("MASTER_PORT=", listening[0].Port())) {
		t.Errorf("the ranks also listen at %v, want MASTER_PORT alone", listening)
	}
	n.leave(x, other)
}

// If UCX does not see the interface of a host, the rank on it says so at the start. Here UCX does
// not see it because /sys belongs to another network namespace.
func TestNodeWithoutInterface(t *testing.T) {
	t.Parallel()
	needUCX(t)
	n := newNodes(t, [2]string{"10.213.7.1", "10.213.7.2"})
	n.env = append(n.env, "RANK=1")
	other := n.command("-e", "1", "--device", "cpu")
	script := strings.ReplaceAll(hidden, " || exit; ", ` && exec nsenter --net="/run/netns/$0" "$@"`)
	other.Args = append([]string{"unshare", "-m", "sh", "-c", script, n.name(1), other.Path}, other.Args[1:]...)
	other.Path = needs.Program(t, "unshare")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Process.Kill(); n.killLeft() })
	first := n.on(0, n.command("-e", "1", "--device", "cpu"))
	said, err := first.CombinedOutput()
	if err == nil || !strings.Contains(string(said), `UCX finds no way to rank `) ||
		!strings.Contains(string(said), "(is it up, and in /sys/class/net?)") {
		t.Errorf("%v: %s", err, said)
	}
	end(t, "rank 1", other)
	n.expectNothingLeft()
}

// A host that is cut off for longer than the heartbeat is lost. The prompt says so although no cell
// runs, and the session goes on without that host. When the cable is connected again, the host's
// rank has ended. A new process in its place ends with an error that says how to start again.
func TestNodeCutOff(t *testing.T) {
	t.Parallel()
	needUCX(t)
	n := newNodes(t, [2]string{"10.213.7.1", "10.213.7.2"})
	n.env = append(n.env, "SYMMREPL_HEARTBEAT=3s")
	x, other := n.session()
	x.expect("2 ranks, cpu.")
	x.enter("t := symm.Empty(symm.I32, 2); h := symm.Rendezvous(t)")
	swap(x, 1)
	n.cut()
	x.expect("symmrepl: rank 1 is lost: its host ")
	x.expect(" is silent: no heartbeat for 3s; the remaining ranks are 0: symm.Survivors() makes a group of them")
	x.enter(`g := symm.Survivors(); u := g.Empty(symm.I32, 2).Fill(7); symm.Rendezvous(u); fmt.Println("left", g.Ranks(), symm.AllReduce(u, "sum", g).Ints())`)
	x.expect("[0] left [0] [7 7]\n")
	end(t, "rank 1", other)
	n.mend()
	again := n.on(1, n.command("--device", "cpu"))
	if said, _ := again.CombinedOutput(); !strings.Contains(string(said), "rank 1 was lost: ") ||
		!strings.Contains(string(said), "start it again on all hosts") {
		t.Errorf("a process in the place of rank 1 says %s", said)
	}
	x.enter(`fmt.Println("still", symm.AllReduce(u, "sum", g).Ints())`)
	x.expect("[0] still [7 7]\n")
	x.enter(":quit!")
	x.exit(0)
	n.expectNothingLeft()
}
