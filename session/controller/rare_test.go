package controller

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/internal/bootstrap/rendezvous"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/rankset"
	"github.com/symmrepl/symmrepl/session/wire"
)

// A worker that hangs before it is ready can be interrupted, is given up after a time, and is
// replaced.
func TestStartHangs(t *testing.T) {
	c := launch(t, 3)
	hung := filepath.Join(t.TempDir(), "hung")
	t.Setenv("FAKE_START_HUNG", hung)
	t.Setenv("FAKE_START_RANK", "1")
	t.Setenv("FAKE_START_ERROR", "hang")
	syscall.Kill(c.pids()[1], syscall.SIGKILL)
	soon(t, "a worker hangs", func() bool { _, err := os.Stat(hung); return err == nil })
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	c.want(c.evalContext(ctx, "print x"), "! interrupted rank 1 has not started: context deadline exceeded\n")
	c.c.startLimit = time.Second
	c.want(c.eval("print x"), "! system rank 1 did not start within 1s; try again\n")
	c.c.startLimit = startTimeout
	c.want(c.eval("gather x"), replacedNote(1, 3, "did not start")+"= [0-2] 012\n")
}

// A kill that comes late does not hit the successor of the worker it was meant for.
func TestLateKill(t *testing.T) {
	c := launch(t, 3)
	first := c.pids()
	syscall.Kill(first[0], syscall.SIGKILL)
	soon(t, "rank 0 is replaced", func() bool { now := c.pids()[0]; return now != 0 && now != first[0] })
	c.want(c.eval("nothing"), replacedNote(0, 3, "was killed (SIGKILL)"))
	second := c.pids()
	c.c.tell([]int{0}, wire.Command{Kill: 1}, nil)
	c.want(c.eval("gather x"), "= [0-2] 012\n")
	if now := c.pids(); now[0] == first[0] || now[0] != second[0] {
		t.Errorf("worker %d, then %d, then %d", first[0], second[0], now[0])
	}
}

// A front end that uses a number twice gets two answers and does no harm.
func TestFrontRepeatsItself(t *testing.T) {
	c := launch(t, 1)
	conn, err := net.Dial("unix", filepath.Join(c.c.dir.Path, attachName))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	out, in := frame.NewWriter(conn), frame.NewReader(conn, 0)
	const times = 50
	for range times {
		if err := out.Write(frontRequest{ID: 1, History: true}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for range times {
		var r frontReply
		if _, err := in.Read(&r); err != nil || r.ID != 1 || r.Err != "" {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	c.want(c.eval("value x"), "= x\n")
}

// A process that joins after the end of the session is refused, and does not wait for a controller.
func TestJoinAfterClose(t *testing.T) {
	c := launch(t, 2)
	c.Close()
	if _, why := c.c.admit(&rendezvous.Link{Hello: rendezvous.Hello{Version: wire.Version, Rank: 1, Size: 2}}); why != "the session is over" {
		t.Errorf("refused because %q", why)
	}
}

// A rank whose supervisor is gone does not come back. A restart reports that at once, and replaces
// the other ranks.
func TestRestartWithoutSupervisor(t *testing.T) {
	runtimeDir(t)
	c, ended := joinAll(t, 2, func(r int) Launcher {
		return Launcher{Name: "torchrun", Rank: r, Size: 2, LocalRank: r, LocalSize: 2, Port: 29501}
	}, session.Config{})
	c.c.startLimit = time.Hour
	reported := make(chan string, 10)
	c.c.setLate(func(o session.Output) { reported <- o.Text })
	c.c.keeper(1).(*hostKeeper).Link.Close()
	if err := receive(t, "rank 1 ends", ended); err == nil {
		t.Error("the supervisor does not say that rank 0 is gone")
	}
	var infos []session.RankInfo
	soon(t, "rank 1 is dead", func() bool {
		infos, _ = c.Ranks(context.Background())
		return infos[1].State == "dead"
	})
	if text := receive(t, "the loss is reported", reported); !strings.HasPrefix(text, "rank 1 is lost: its supervisor is gone (") {
		t.Error(text)
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitAtMost)
	defer cancel()
	err := c.Restart(ctx, nil, false, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "rank 1 has no worker: its supervisor is gone") ||
		!strings.HasSuffix(err.Error(), "(start the session again)") {
		t.Error(err)
	}
	if infos, _ = c.Ranks(context.Background()); infos[0].Incarnation != 2 || infos[1].State != "dead" {
		t.Errorf("%+v", infos)
	}
	c.want(c.eval("value x", 0), "= [0] x\n")
}

// For ranks that do not answer in time the session reports which ones have a cell to finish.
func TestBusyWithoutAnswer(t *testing.T) {
	c := launch(t, 3)
	past, cancel := context.WithCancel(t.Context())
	cancel()
	expect := func(want ...string) {
		t.Helper()
		soon(t, fmt.Sprint(want), func() bool {
			infos, err := c.Ranks(past)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, info := range infos {
				if info.Doing != "does not answer" {
					return false // the answer was too fast
				}
				got = append(got, info.State)
			}
			return slices.Equal(got, want)
		})
	}
	expect("idle", "idle", "idle")
	interrupt, shown := c.start("1:spin\n2:wait 0", 1, 2)
	expect("idle", "running", "running")
	interrupt()
	shown()
	expect("idle", "idle", "idle")
}

// A rank that does not answer uses up the time limit; the answers of the others count all the same.
func TestAnswersBesideASilentRank(t *testing.T) {
	c := launch(t, 3)
	pid := c.pids()[1]
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	soon(t, "rank 1 has stopped", func() bool { return stopped(pid) })
	for range 20 {
		ctx, timeUp := context.WithCancel(context.Background())
		got := make(chan map[int]*answer, 1)
		go func() {
			got <- c.c.ask(ctx, rankset.All(3), waitAtMost, func(id uint64) wire.Command { return wire.Command{Status: id} })
		}()
		soon(t, "ranks 0 and 2 have answered", func() bool {
			c.c.mu.Lock()
			defer c.c.mu.Unlock()
			q := c.c.asked[c.c.questions]
			return q != nil && len(q.answers) == 2
		})
		timeUp()
		answers := receive(t, "the answers", got)
		if answers[0] == nil || answers[1] != nil || answers[2] == nil {
			t.Fatalf("%+v", answers)
		}
	}
	if infos, err := c.Ranks(context.Background()); err != nil || infos[1].Doing == "" {
		t.Errorf("%+v, %v", infos, err)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}
