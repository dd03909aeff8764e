package torchrun

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// watchProgram watches two ranks, which it starts, and ends waits that cannot end. wait waits for the end.
func watchProgram(t *testing.T, name string) (ranks []*exec.Cmd, s *shown, wait func()) {
	t.Helper()
	s = &shown{}
	p := Program{Name: "prog.py", Ranks: 2, Deadlock: session.DeadlockEnd, Emit: s.emit}
	socket, ended, err := p.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for rank := range 2 {
		c := exec.Command(os.Args[0], name)
		c.Env = append(os.Environ(), fmt.Sprintf("RANK=%d", rank), joins+"="+socket)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Process.Kill() })
		go c.Wait()
		ranks = append(ranks, c)
	}
	return ranks, s, func() {
		t.Helper()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatal("the watch does not end")
		}
	}
}

// Waits of ranks that were started elsewhere are told and, if so wanted, ended.
func TestWatch(t *testing.T) {
	_, s, wait := watchProgram(t, "deadlock")
	wait()
	for _, text := range []string{
		"prog.py is ended, because these waits cannot end:\n",
		"rank 0  waits in wait_signal at prog.py:7 in step for rank 1: a signal on channel 3; rank 1 has put one on channel 5",
		"rank 1  waits in barrier #1 at prog.py:9 for rank 0: the same call",
	} {
		if !strings.Contains(s.notes.String(), text) {
			t.Errorf("%q is missing:\n%s", text, &s.notes)
		}
	}
}

// The end of the watch leaves the ranks alone. Processes that are no ranks are told of.
func TestWatchLeaves(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := &shown{}
	p := Program{Name: "prog.py", Ranks: 2, Emit: s.emit}
	socket, ended, err := p.Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	strangers := []string{"", "\x00\n", "{}\n", `{"watched": 1, "rank": 2}` + "\n", `{"watched": 1, "rank": -1}` + "\n", strings.Repeat("x", maxLine+2)}
	for _, text := range strangers {
		conn, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		conn.Write([]byte(text))
		conn.Close()
	}
	time.Sleep(100 * time.Millisecond)
	cancel()
	<-ended
	if _, err := os.Stat(filepath.Dir(socket)); err == nil {
		t.Errorf("%s is left", socket)
	}
	if got := strings.Count(s.notes.String(), "a process that is no rank of prog.py has connected: "); got != len(strangers) {
		t.Errorf("%d of %d are told:\n%s", got, len(strangers), &s.notes)
	}
}

// A rank may come to a breakpoint before the others are there.
func TestWatchBreakpoint(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stands := make(chan string, 1)
	p := Program{Name: "prog.py", Ranks: 2, Emit: func(o session.Output) { stands <- o.Text }}
	socket, ended, err := p.Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for rank := range 2 {
		conn, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "{\"watched\": 1, \"rank\": %d}\n{\"breakpoint\": 1, \"at\": \"prog.py:%d\"}\n", rank, rank)
		time.Sleep(50 * time.Millisecond)
	}
	select {
	case text := <-stands:
		if !strings.Contains(text, "prog.py stands in symmrepl.torch.breakpoint()") || !strings.Contains(text, "  rank 1  at prog.py:1\n") {
			t.Error(text)
		}
	case <-time.After(time.Minute):
		t.Error("it is not told")
	}
	cancel()
	<-ended
}

// A rank that is killed has ended, and the other one waits for it in vain.
func TestWatchKilled(t *testing.T) {
	ranks, s, wait := watchProgram(t, "deadlock")
	time.Sleep(time.Second)
	ranks[1].Process.Kill()
	wait()
	if text := s.notes.String(); !strings.Contains(text, "rank 1  has ended") {
		t.Errorf("it shows:\n%s", text)
	}
}
