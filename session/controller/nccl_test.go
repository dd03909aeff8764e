package controller

import (
	"bufio"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/watchdog"
	"github.com/symmrepl/symmrepl/session/wire"
)

// rasServer is a stand-in for NCCL's RAS. It answers each question with data.
func rasServer(t *testing.T, data string) (questions <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	t.Setenv("NCCL_RAS_ADDR", l.Addr().String())
	asked := make(chan string, 16)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			for in := bufio.NewScanner(c); in.Scan(); {
				switch line := in.Text(); {
				case line == "VERBOSE STATUS":
					c.Write([]byte(data))
					c.Close()
					asked <- line
				case strings.HasPrefix(line, "CLIENT PROTOCOL "):
					c.Write([]byte("SERVER PROTOCOL 2\n"))
				default:
					c.Write([]byte("OK\n"))
				}
			}
		}
	}()
	return asked
}

// hungRun is a run of two ranks. Rank 0 waits in a call, which RAS is asked about if it is NCCL's.
func hungRun(t *testing.T, wait session.Wait) (r *run, at func(time.Duration) time.Time) {
	c := newController(session.Config{}, 2, nil)
	t.Cleanup(c.spawner.Close)
	for rank, s := range c.ranks {
		s.ready = &wire.Ready{PID: 4000 + rank}
	}
	began := time.Unix(0, 0)
	at = func(d time.Duration) time.Time { return began.Add(d) }
	r = &run{
		c: c, cell: session.Cell{ID: 1, Name: "cell[1]", Line: 1}, ranks: []int{0, 1}, started: began, left: 1,
		on: []rankRun{{Rank: watchdog.Rank{TakesPart: true}}, {Rank: watchdog.Rank{TakesPart: true, Result: &session.Result{}}}},
	}
	r.watch.Look(r.snapshot(at(time.Second)))
	r.watch.Answer([]int{0}, &wire.Status{Waits: []session.Wait{wait}}, nil, at(2*time.Second))
	return r, at
}

// toldAt returns the text that the watchdog shows at a time, and whether the table is no worse than the
// last one.
func toldAt(r *run, now time.Time) (text string, again bool) {
	cell := r.snapshot(now)
	r.askNCCL(cell)
	for _, a := range r.watch.Look(cell) {
		if shown, ok := a.(watchdog.Show); ok {
			return shown.Text, shown.Again
		}
	}
	return "", false
}

// settledAt is toldAt for a table that has not changed for a while.
func settledAt(r *run, now time.Time) (text string, again bool) {
	toldAt(r, now.Add(-time.Second/4))
	return toldAt(r, now)
}

// The table says which ranks of a communicator are behind, as RAS knows it.
func TestHangInNCCL(t *testing.T) {
	data, err := os.ReadFile("../../internal/ras/testdata/behind.json")
	if err != nil {
		t.Fatal(err)
	}
	asked := rasServer(t, strings.Replace(string(data), `"AllReduce": 5`, `"AllReduce": 4`, 1))
	r, at := hungRun(t, session.Wait{Op: "all_reduce", Ordinal: 5, Group: "world", Peers: []int{1}, Since: 2, NCCL: true, For: "NCCL"})
	toldAt(r, at(2*time.Second-time.Second/4))
	<-asked
	answer := r.ras.answer
	lines := <-answer // held back
	text, _ := toldAt(r, at(2*time.Second))
	if want := "  rank 0  waits in all_reduce #5 for rank 1: NCCL, for 2.0 s\n  rank 1  has finished the cell\n"; !strings.HasSuffix(text, want) {
		t.Errorf("before RAS has answered: %q", text)
	}
	answer <- lines
	text, again := settledAt(r, at(3*time.Second))
	want := "  rank 1  has finished the cell\n" +
		"  NCCL's communicator 0xae94423cfbb2ef4a of rank 0-1, member 2 (pid 4002 on 127.0.0.1), member 3 (pid 4003 on 127.0.0.1): " +
		"rank 0, member 2 (pid 4002 on 127.0.0.1) is behind by 1 AllReduce: it has begun 4, rank 1, member 3 (pid 4003 on 127.0.0.1) 5\n"
	if _, got, _ := strings.Cut(text, "for 3.0 s\n"); !strings.HasPrefix(got, want) || again {
		t.Errorf("told\n%swant\n%s", got, want)
	}
	if _, again = toldAt(r, at(4*time.Second)); r.ras.answer != nil {
		t.Error("RAS is asked again within a second")
	}
	if !again {
		t.Error("an answer that is known counts as news")
	}
	r.askNCCL(r.snapshot(at(8 * time.Second)))
	<-asked
}

// RAS is not asked about other waits, and a port on which nobody answers changes nothing.
func TestHangOutsideNCCL(t *testing.T) {
	asked := rasServer(t, "")
	r, at := hungRun(t, session.Wait{Op: "wait_signal", Peers: []int{1}, Since: 2})
	if r.askNCCL(r.snapshot(at(2 * time.Second))); r.ras.answer != nil || len(asked) > 0 {
		t.Error("RAS is asked about a signal")
	}
	t.Setenv("NCCL_RAS_ADDR", "localhost:1")
	r, at = hungRun(t, session.Wait{Op: "all_reduce", Peers: []int{1}, Since: 2, NCCL: true})
	r.askNCCL(r.snapshot(at(2 * time.Second)))
	answer := r.ras.answer
	if lines := <-answer; lines != nil {
		t.Errorf("nobody answered, and there is %q", lines)
	}
	t.Setenv("NCCL_RAS_ENABLE", "0")
	r, at = hungRun(t, session.Wait{Op: "all_reduce", Peers: []int{1}, Since: 2, NCCL: true})
	if r.askNCCL(r.snapshot(at(2 * time.Second))); r.ras.answer != nil {
		t.Error("RAS is off, and is asked")
	}
}
