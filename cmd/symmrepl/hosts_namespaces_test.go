package main

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// nodes are two network namespaces of this machine that a cable connects: hosts with one rank each that share neither folders nor the loopback interface.
type nodes struct {
	home
	addresses [2]string
}

// newNodes makes them. They have one address each, of IPv4 or of IPv6.
func newNodes(t *testing.T, addresses [2]string) nodes {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can make network namespaces")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("there is no program ip (of iproute2) to make network namespaces")
	}
	n := nodes{newHome(t, 2), addresses}
	n.env = []string{"SYMMREPL_TOKEN=" + strings.Repeat("0123456789abcdef", 2), "WORLD_SIZE=2", "LOCAL_WORLD_SIZE=1", "LOCAL_RANK=0", "MASTER_ADDR=" + addresses[0],
		fmt.Sprint("MASTER_PORT=", freePort(t))}
	for i := range 2 {
		if said, err := ip("netns", "add", n.name(i)); err != nil {
			t.Skipf("no network namespace can be made here: %v: %s", err, said)
		}
		t.Cleanup(func() { ip("netns", "del", n.name(i)) })
	}
	if said, err := ip("link", "add", n.cable(0), "netns", n.name(0), "type", "veth", "peer", "name", n.cable(1), "netns", n.name(1)); err != nil {
		t.Skipf("no cable can be made here: %v: %s", err, said)
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

// mended waits until the kernel has noticed that the cable is whole.
func (n nodes) mended() {
	n.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
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

// name is that of a namespace, and cable that of its interface.
func (n nodes) name(i int) string  { return fmt.Sprintf("symmrepl-%d-%d", os.Getpid(), i) }
func (n nodes) cable(i int) string { return fmt.Sprint("cable", i) }

func ip(args ...string) (string, error) {
	said, err := exec.Command("ip", args...).CombinedOutput()
	return string(said), err
}

// ip changes a node.
func (n nodes) ip(i int, args ...string) {
	n.t.Helper()
	if args[len(args)-1] == "nodad" && !strings.Contains(n.addresses[0], ":") {
		args = args[:len(args)-1] // IPv4 has no such thing
	}
	if said, err := ip(append([]string{"-n", n.name(i)}, args...)...); err != nil {
		n.t.Fatalf("ip %v: %v: %s", args, err, said)
	}
}

// cut cuts the cable, and mend mends it. Nobody is told: what is sent is lost.
func (n nodes) cut() { n.ip(0, "link", "set", n.cable(0), "down") }
func (n nodes) mend() {
	n.ip(0, "link", "set", n.cable(0), "up")
	n.mended()
}

// on makes a program one that runs as the rank of a node. The node has a /sys of its own, which shows UCX its interfaces.
func (n nodes) on(i int, cmd *exec.Cmd) *exec.Cmd {
	cmd.Env = append(cmd.Env, fmt.Sprint("RANK=", i))
	script := strings.ReplaceAll(hidden, " || exit; ", ` && exec "$@"`)
	cmd.Args = append([]string{"ip", "netns", "exec", n.name(i), "sh", "-c", script, "sh", cmd.Path}, cmd.Args[1:]...)
	cmd.Path, _ = exec.LookPath("ip")
	return cmd
}

// session starts the rank of the second node, and that of the first at a terminal.
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

// swap lets both ranks put a number to the other, and signal it.
func swap(x *terminal, number int) {
	x.t.Helper()
	x.enter(strings.ReplaceAll(`h.Put(1-symm.Rank(), symm.Local(symm.I32, 2).Fill(10*symm.Rank() + #)); h.PutSignal(1-symm.Rank(), 0); h.WaitSignal(1-symm.Rank(), 0); fmt.Println("got", t.Ints())`, "#", strconv.Itoa(number)))
	for rank := range 2 {
		x.expect(fmt.Sprintf("[%d] got [%d %d]\n", rank, 10*(1-rank)+number, 10*(1-rank)+number))
	}
}

// Two hosts with interfaces of their own: UCX carries operations over the cable between them. When that is cut for a while nobody is told. A wait is shown in the
// table and ends by its timeout, which names the rank that it waited for; when the cable is mended what was sent arrives, and the session goes on.
func TestTwoNodes(t *testing.T) {
	needUCX(t)
	n := newNodes(t, [2]string{"10.213.7.1", "10.213.7.2"})
	x, other := n.session()
	x.expect("2 ranks, cpu.")
	x.enter(":topo")
	x.expect(" on cable0 carries traffic to it")
	x.enter("t := symm.Empty(symm.I32, 2); h := symm.Rendezvous(t)")
	swap(x, 1)
	x.enter(`:on 0 fmt.Println("waits", "now"); h.WaitSignal(1, 1, symm.Timeout(2500*time.Millisecond)); symm.Synchronize()`)
	x.expect("[0] waits now\n")
	n.cut()
	x.expect("rank 0  waits in wait_signal at cell[3]:1 for rank 1: a signal on channel 1 (network to rank 1: ")
	time.Sleep(1500 * time.Millisecond) // the wait is over
	n.mend()
	x.expect("wait_signal: rank 0 waited 2.5s for a signal of rank 1 on channel 1, which never came")
	x.enter("symm.Recover()")
	swap(x, 2)
	x.enter(`:on 0 fmt.Println("begins", "now"); time.Sleep(500 * time.Millisecond); h.PutWithSignal(1, symm.Local(symm.I32, 2).Fill(7), 5, 7); symm.Synchronize(); fmt.Println("it is", "sent")`)
	x.expect("[0] begins now\n")
	n.cut() // before it is sent
	x.expect("[0] it is sent\n")
	n.mend()
	x.enter(`:on 1 h.WaitForSignal(5, "==", 7, symm.Timeout(30*time.Second)); fmt.Println("late", t.Ints())`)
	x.expect("[1] late [7 7]\n")
	swap(x, 3)
	n.leave(x, other)
}

// Over IPv6 everything is the same: the meeting, and UCX where an interface has no other addresses.
func TestTwoNodesIPv6(t *testing.T) {
	needUCX(t)
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
		t.Errorf("besides, they listen at %v, want MASTER_PORT alone", listening)
	}
	n.leave(x, other)
}

// A host on which UCX does not see its interface is told so at the start. This is one whose /sys is that of another network namespace.
func TestNodeWithoutInterface(t *testing.T) {
	needUCX(t)
	n := newNodes(t, [2]string{"10.213.7.1", "10.213.7.2"})
	n.env = append(n.env, "RANK=1")
	other := n.command("-e", "1", "--device", "cpu")
	script := strings.ReplaceAll(hidden, " || exit; ", ` && exec nsenter --net="/run/netns/$0" "$@"`)
	other.Args = append([]string{"unshare", "-m", "sh", "-c", script, n.name(1), other.Path}, other.Args[1:]...)
	if path, err := exec.LookPath("unshare"); err != nil {
		t.Skip("there is no program unshare (of util-linux)")
	} else {
		other.Path = path
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Process.Kill(); n.killLeft() })
	first := n.on(0, n.command("-e", "1", "--device", "cpu"))
	said, err := first.CombinedOutput()
	if err == nil || !strings.Contains(string(said), `UCX finds no way to rank `) || !strings.Contains(string(said), "(is it up, and in /sys/class/net?)") {
		t.Errorf("%v: %s", err, said)
	}
	end(t, "rank 1", other)
	n.expectNothingLeft()
}

// A host that is cut off for longer than the heartbeat is lost: the prompt says so although nothing runs, and goes on without it. When the cable is mended the
// host's rank has ended, and a new process in its place is told how to start again.
func TestNodeCutOff(t *testing.T) {
	needUCX(t)
	n := newNodes(t, [2]string{"10.213.7.1", "10.213.7.2"})
	n.env = append(n.env, "SYMMREPL_HEARTBEAT=3s")
	x, other := n.session()
	x.expect("2 ranks, cpu.")
	x.enter("t := symm.Empty(symm.I32, 2); h := symm.Rendezvous(t)")
	swap(x, 1)
	n.cut()
	x.expect("symmrepl: rank 1 is lost: its host ")
	x.expect(" is silent: no heartbeat for 3s; those that are left are 0: symm.Survivors() makes a group of them")
	x.enter(`g := symm.Survivors(); u := g.Empty(symm.I32, 2).Fill(7); symm.Rendezvous(u); fmt.Println("left", g.Ranks(), symm.AllReduce(u, "sum", g).Ints())`)
	x.expect("[0] left [0] [7 7]\n")
	end(t, "rank 1", other)
	n.mend()
	again := n.on(1, n.command("--device", "cpu"))
	if said, _ := again.CombinedOutput(); !strings.Contains(string(said), "rank 1 was lost: ") || !strings.Contains(string(said), "start it again on all hosts") {
		t.Errorf("a process in the place of rank 1 says %s", said)
	}
	x.enter(`fmt.Println("still", symm.AllReduce(u, "sum", g).Ints())`)
	x.expect("[0] still [7 7]\n")
	x.enter(":quit!")
	x.exit(0)
	n.expectNothingLeft()
}
