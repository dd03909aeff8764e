package symmemtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	gonet "net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/heartbeat/relaytest"
	"github.com/symmrepl/symmrepl/internal/shortdir"
	"github.com/symmrepl/symmrepl/symmem"
	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// vanishingProgram is a program of four ranks on two hosts that lose their connection while ranks 0
// and 3 wait for each other. It proceeds at each line of standard input.
func vanishingProgram(world *symmem.Runtime) {
	lines := bufio.NewScanner(os.Stdin)
	say := func(words ...any) {
		fmt.Println(words...)
		lines.Scan()
	}
	h := symmem.Rendezvous(symmem.Empty(symmem.I32, 1))
	h.Barrier(0)
	symmem.Synchronize()
	say("met")
	h.Barrier(0)
	symmem.Synchronize()
	say("met again")
	rank := symmem.Rank()
	across, near := 3-rank, rank^1
	if rank == 0 || rank == 3 {
		h.WaitSignal(across, 1)
		began := time.Now()
		err := symmem.Maybe(symmem.Synchronize)
		var e *symmem.Error
		if errors.As(err, &e) {
			fmt.Println(e.Kind, e.Op, e.Peer, e.Msg[strings.Index(e.Msg, "but"):])
		}
		fmt.Println("it took", time.Since(began).Milliseconds())
		err = symmem.Maybe(func() { h.PutWithSignal(across, symmem.Local(symmem.I32, 1), 0, 1); symmem.Synchronize() })
		fmt.Println(err)
		h.PutSignal(near, 2) // this rank's own host still works
	} else {
		h.WaitSignal(near, 2)
		fmt.Println(symmem.Maybe(symmem.Synchronize))
	}
	symmem.Synchronize()
	say("meet:", symmem.Maybe(symmem.Meet)) // no rank ends before all have noticed
	world.Close()
	os.Exit(0)
}

// rankProcess is the process of a rank that a test controls.
type rankProcess struct {
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Scanner
}

// hear returns the next line that a rank prints.
func (p *rankProcess) hear(t *testing.T) string {
	t.Helper()
	if !p.out.Scan() {
		t.Fatalf("%v ended", p.cmd.Env[0])
	}
	return p.out.Text()
}

// Two hosts silently lose their connection: waits for the other host end with its name, and other
// work goes on. Before that, processes that stop for a moment do no harm.
func TestVanishedHost(t *testing.T) {
	const limit = 5 * time.Second
	for _, network := range []string{"null", "ucx"} {
		t.Run(network, func(t *testing.T) {
			t.Parallel()
			if _, err := net.Available(); network == "ucx" && err != nil {
				t.Skip("no UCX: ", err)
			}
			l, err := gonet.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			l.Close() // rank 0 listens there
			relay := relaytest.Start(t, l.Addr().String())
			port := func(address string) string { return address[strings.LastIndex(address, ":")+1:] }
			dir := shortdir.New(t)
			var all []*rankProcess
			for r := range 4 {
				at := l.Addr().String()
				if r >= 2 {
					at = relay.Address
				}
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(strings.Fields(fmt.Sprintf("OMPI_COMM_WORLD_RANK=%d OMPI_COMM_WORLD_LOCAL_RANK=%d OMPI_COMM_WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=%s", r, r%2, port(at))),
					"SYMMREPL_TOKEN=0123456789abcdef0123456789abcdef", "SYMMREPL_HOSTS=2", "SYMMREPL_NET="+network,
					"SYMMREPL_UCX_LIB="+os.Getenv("SYMMREPL_UCX_LIB"),
					startsVariable+"=vanish", "SYMMREPL_DEVICE=cpu", "XDG_RUNTIME_DIR="+dir, "PATH="+os.Getenv("PATH"))
				if r == 0 {
					cmd.Env = append(cmd.Env, "SYMMREPL_HEARTBEAT="+limit.String()) // rank 0's value counts
				}
				in, err := cmd.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				cmd.Stderr = os.Stderr
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				defer cmd.Process.Kill()
				defer time.AfterFunc(endLimit, func() { cmd.Process.Kill() }).Stop()
				all = append(all, &rankProcess{cmd, in, bufio.NewScanner(out)})
			}
			each := func(want string) {
				t.Helper()
				for _, p := range all {
					if got := p.hear(t); got != want {
						t.Fatalf("%s says %q, not %q", p.cmd.Env[0], got, want)
					}
				}
			}
			each("met")
			for _, r := range []int{0, 2} {
				all[r].cmd.Process.Signal(syscall.SIGSTOP)
				time.Sleep(3 * time.Second)
				all[r].cmd.Process.Signal(syscall.SIGCONT)
			}
			for _, p := range all {
				fmt.Fprintln(p.in)
			}
			each("met again")
			for _, p := range all {
				fmt.Fprintln(p.in)
			}
			time.Sleep(500 * time.Millisecond) // they wait
			relay.Cut()
			defer relay.Mend()
			for _, r := range []int{0, 3} {
				p, across := all[r], 3-r
				const gone = "rank %d on host %d is gone: no heartbeat for 5s"
				if got, want := p.hear(t), fmt.Sprintf("peer wait_signal %d but "+gone, across, across, across/2); got != want {
					t.Errorf("rank %d: %s, want %s", r, got, want)
				}
				var took int
				line := p.hear(t)
				if _, err := fmt.Sscanf(line, "it took %d", &took); err != nil || took < 4000 {
					t.Errorf("rank %d: %s", r, line)
				}
				t.Logf("rank %d waited %d ms, about 500 of them before the cut", r, took)
				if got, want := p.hear(t), fmt.Sprintf("put_with_signal on rank %d: "+gone, r, across, across/2); !strings.HasPrefix(got, want) {
					t.Errorf("rank %d: %s, want %s", r, got, want)
				}
			}
			for _, r := range []int{1, 2} {
				if got := all[r].hear(t); got != "<nil>" {
					t.Errorf("rank %d: %s", r, got)
				}
			}
			for r, p := range all {
				// the first to be lost
				wants := []string{"rank 2 was lost: no heartbeat for 5s (", "rank 3 was lost: no heartbeat for 5s ("}
				if r >= 2 {
					wants = []string{fmt.Sprintf("bootstrap: rank %d lost the session: no heartbeat for 5s", r)}
				}
				got := p.hear(t)
				is := func(want string) bool {
					return strings.HasPrefix(got, fmt.Sprintf("meet: Meet on rank %d: %s", r, want))
				}
				if !slices.ContainsFunc(wants, is) {
					t.Errorf("rank %d: %s, want one of %q", r, got, wants)
				}
			}
			for _, p := range all {
				fmt.Fprintln(p.in)
			}
			for r, p := range all {
				if err := p.cmd.Wait(); err != nil {
					t.Errorf("rank %d: %v", r, err)
				}
			}
		})
	}
}
