package controller

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/procfs"
	"github.com/symmrepl/symmrepl/internal/shortdir"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/fold"
)

// waitAtMost bounds the tests' waits for events that come soon unless something is broken.
const waitAtMost = time.Minute

// runtimeDir gives the test a directory of sessions of its own.
func runtimeDir(t testing.TB) string {
	t.Helper()
	dir := shortdir.New(t)
	t.Setenv("XDG_RUNTIME_DIR", dir)
	return dir
}

// soon waits until is returns true; what describes the condition.
func soon(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(waitAtMost); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain: %s", waitAtMost, what)
		}
	}
}

// receive returns the next value from a channel; what describes the value.
func receive[T any](t testing.TB, what string, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(waitAtMost):
		t.Fatalf("waited %v in vain: %s", waitAtMost, what)
	}
	return v
}

// console is a session and its output.
type console struct {
	session.Session
	t    testing.TB
	size int
	c    *controller
}

func launch(t testing.TB, size int) *console {
	t.Helper()
	runtimeDir(t)
	s, err := Launch(context.Background(), session.Config{Ranks: size, KillAfter: 400 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &console{Session: s, t: t, size: size, c: s.(*controller)}
}

// eval runs a cell and returns everything it showed, a line each.
func (c *console) eval(source string, ranks ...int) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitAtMost)
	defer cancel()
	return c.evalContext(ctx, source, ranks...)
}

// start runs a cell beside the test and returns when ranks are busy with it. shown waits for the
// end and returns the output.
func (c *console) start(source string, ranks ...int) (interrupt context.CancelFunc, shown func() string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitAtMost)
	out := make(chan string, 1)
	go func() {
		defer cancel()
		out <- c.evalContext(ctx, source)
	}()
	soon(c.t, fmt.Sprintf("%q runs", source), func() bool {
		infos, err := c.Ranks(ctx)
		return err == nil && !slices.ContainsFunc(ranks, func(r int) bool { return infos[r].State != "running" && infos[r].State != "waiting" })
	})
	return cancel, func() string {
		c.t.Helper()
		return receive(c.t, fmt.Sprintf("%q ends", source), out)
	}
}

// interrupted returns the output of a cell that is interrupted when ranks are busy with it.
func (c *console) interrupted(source string, ranks ...int) string {
	c.t.Helper()
	interrupt, shown := c.start(source, ranks...)
	interrupt()
	return shown()
}

func (c *console) evalContext(ctx context.Context, source string, ranks ...int) string {
	return c.evalCell(ctx, session.Cell{Source: source, Name: "in", Line: 1, Ranks: ranks})
}

func (c *console) evalCell(ctx context.Context, cell session.Cell) string {
	var b strings.Builder
	cell.Output = func(o session.Output) {
		if strings.HasSuffix(o.Text, togetherAgain) {
			return // on a busy machine only
		}
		for line := range strings.Lines(o.Text) {
			if o.Stream == session.Note {
				b.WriteString("note ")
			}
			if o.Stream == session.Stderr {
				b.WriteString("err ")
			}
			b.WriteString(session.Prefix(o.Ranks, c.size) + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	reply := c.Eval(ctx, cell)
	for _, v := range reply.Values {
		fmt.Fprintf(&b, "= %s%s\n", session.Prefix(v.Ranks, c.size), v.Text)
	}
	for _, e := range reply.Errors {
		fmt.Fprintf(&b, "! %s%s %v\n", session.Prefix(e.Ranks, c.size), e.Kind, e)
	}
	return b.String()
}

func (c *console) want(got, want string) {
	c.t.Helper()
	if got != want {
		c.t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

func (c *console) pids() []int {
	c.t.Helper()
	infos, err := c.Ranks(context.Background())
	if err != nil {
		c.t.Fatal(err)
	}
	pids := make([]int, len(infos))
	for i, r := range infos {
		pids[i] = r.PID
	}
	return pids
}

func TestCells(t *testing.T) {
	c := launch(t, 4)
	c.want(c.eval("print hello\nprint I am RANK\nwrite end"), "[0-3] hello\n[0] I am 0\n[1] I am 1\n[2] I am 2\n[3] I am 3\n[0-3] end\n")
	c.want(c.eval("value same"), "= [0-3] same\n")
	c.want(c.eval("0:value a\n1:value b\n2:value a"), "= [0,2] a\n= [1] b\n")
	c.want(c.eval("gather x"), "= [0-3] 0123\n")
	c.want(c.eval("print on RANK", 2, 0), "[0] on 0\n[2] on 2\n")
	c.want(c.eval("2:fail boom\n3:fail boom"), "! [2,3] panic in:1: boom\n"[:0]+"! [2] panic in:1: boom\n! [3] panic in:2: boom\n")
	c.want(c.eval("fail all"), "! [0-3] panic in:1: all\n")
	c.want(c.eval("nonsense"), "! [0-3] syntax in:1: unknown command nonsense\n")
	c.want(c.eval("warn careful"), "err [0-3] careful\n")
	c.want(c.eval("let x 1\nget x"), "= [0-3] 1\n")
	c.want(c.eval("value x", 4), "! misuse ranks [4]: ranks are 0 to 3\n")
	c.want(c.eval("gather late\ngather later", 0, 1), "! [0,1] peer in:1: Gather late: rank 2 is not running this cell\n")
	c.want(c.eval("gather x"), "= [0-3] 0123\n")
	history, err := c.History(context.Background())
	if err != nil || len(history) != 13 || history[4].ID != 5 || history[4].Source != "print on RANK" ||
		!reflect.DeepEqual(history[4].Ranks, []int{2, 0}) {
		t.Errorf("history: %+v, %v", history, err)
	}
}

// TestFlood: the session passes on large amounts of output, complete and in order, without storing
// it.
func TestFlood(t *testing.T) {
	const each = 25 << 20
	c := launch(t, 4)
	c.eval("flood 1000000")
	before := rss(t)
	largest, total := int64(0), 0
	reply := c.Eval(context.Background(), session.Cell{Source: fmt.Sprint("flood ", each), Output: func(o session.Output) {
		if strings.Trim(o.Text, "0123456789abcde\n") != "" || len(o.Text)%16 != 0 {
			t.Errorf("garbled: %.40q", o.Text)
		}
		total += len(o.Text) * len(o.Ranks)
		largest = max(largest, rss(t))
	}})
	if len(reply.Errors) > 0 || total != 4*each {
		t.Errorf("%d bytes shown of %d, %v", total, 4*each, reply.Errors)
	}
	if grown := largest - before; grown > 64<<20 {
		t.Errorf("grew by %d MiB", grown>>20)
	}
	t.Logf("%.0f MB/s, grew by %d MiB", 4*each/1e6/reply.Elapsed, (largest-before)>>20)
}

func rss(t *testing.T) int64 {
	info, err := procfs.Of(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return info.RSS
}

// Output from between cells comes before the output of the next cell.
func TestPrintedBetweenCells(t *testing.T) {
	c := launch(t, 2)
	file := filepath.Join(t.TempDir(), "now")
	c.want(c.eval("later "+file+" afterwards\nprint now"), "[0,1] now\n")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	soon(t, "both ranks have printed", func() bool {
		c.c.mu.Lock()
		defer c.c.mu.Unlock()
		return len(c.c.printed) > 0
	})
	c.want(c.eval("print next"), "[0,1] afterwards\n[0,1] next\n")
}

// After a cell without Output, the next cell shows the output from before both, and that a rank was replaced.
func TestKeptByCellWithoutOutput(t *testing.T) {
	c := launch(t, 3)
	file := filepath.Join(t.TempDir(), "now")
	c.want(c.eval("later "+file+" afterwards"), "")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	soon(t, "all ranks have printed", func() bool {
		c.c.mu.Lock()
		defer c.c.mu.Unlock()
		return len(c.c.printed) > 0
	})
	reply := c.Eval(context.Background(), session.Cell{Source: "print dropped\n1:kill 9", Silent: true})
	if len(reply.Errors) != 1 || reply.Errors[0].Kind != session.KindDied {
		t.Errorf("%+v", reply.Errors)
	}
	c.want(c.eval("print next"), "[0-2] afterwards\n"+replacedNote(1, 3, "was killed (SIGKILL)")+"[0-2] next\n")
}

// Of a large output between cells the beginning is kept, and a note gives the size of the rest. It is
// the output of one rank: a line of two ranks would count twice if one printed it much later.
func TestMuchPrintedBetweenCells(t *testing.T) {
	c := launch(t, 1)
	file := filepath.Join(t.TempDir(), "now")
	c.eval("later " + file + " " + strings.Repeat("x", 3<<20))
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	soon(t, "the rank has printed", func() bool {
		c.c.mu.Lock()
		defer c.c.mu.Unlock()
		return c.c.kept+c.c.notKept > 3<<20
	})
	got := c.eval("print next")
	if n := strings.Count(got, "x"); n < idleKeep-fold.MaxLine || n > idleKeep+1 { // the word "next" contains one
		t.Errorf("%d bytes are kept", n)
	}
	if !strings.Contains(got, "2.0 MiB that were printed while no cell ran are left out here, after the first 1.0 MiB\n") ||
		!strings.HasSuffix(got, "\nnext\n") {
		t.Errorf("left out: %q", strings.ReplaceAll(got, strings.Repeat("x", 64), ""))
	}
}

// ended reports whether a process no longer exists.
func ended(pid int) bool {
	info, err := procfs.Of(pid)
	return err != nil || info.State == "Z"
}

// stopped reports whether a process has stopped with all its threads. The kernel counts a process
// as stopped only when its last thread has stopped.
func stopped(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	return len(threads) > 0 && !slices.ContainsFunc(threads, func(name string) bool {
		thread, err := procfs.Read(name)
		return err != nil || thread.State != "T"
	})
}

// gone waits for the end of processes.
func gone(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		soon(t, fmt.Sprintf("process %d ends", pid), func() bool { return ended(pid) })
	}
}

func TestLeavesNothing(t *testing.T) {
	c := launch(t, 2)
	reply := c.Eval(context.Background(), session.Cell{Source: "child"}) // each worker has a child of its own
	pids := c.pids()
	for _, v := range reply.Values {
		pid, _ := strconv.Atoi(v.Text)
		pids = append(pids, pid)
	}
	if len(pids) != 4 {
		t.Fatal(pids)
	}
	dir := c.c.dir.Path
	c.Close()
	gone(t, pids...)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s: %v", dir, err)
	}
}

// If a session's own process is killed, neither processes nor files remain, whatever its workers
// do.
func TestKilledControllerLeavesNothing(t *testing.T) {
	for _, source := range []string{"print ready\nsleep 60000", "print ready\n0:spin\n1:gather x", "print ready\nkill " +
		strconv.Itoa(int(syscall.SIGSTOP))} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "FAKE_CONTROLLER="+source, "XDG_RUNTIME_DIR="+runtimeDir(t))
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		late := time.AfterFunc(waitAtMost, func() { cmd.Process.Kill() })
		var dir, ready string
		var a, b int
		if _, err := fmt.Fscan(stdout, &dir, &a, &b, &ready); err != nil || ready != "ready" {
			t.Fatal(dir, a, b, ready, err)
		}
		late.Stop()
		if strings.Contains(source, "kill ") {
			soon(t, "the workers have stopped", func() bool { return stopped(a) && stopped(b) })
		}
		cmd.Process.Kill()
		cmd.Wait()
		gone(t, a, b)
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%q: %s: %v", source, dir, err)
		}
	}
}

// Processes that cells have started, in any group and session, end with the session's process, and
// also with the worker alone.
func TestNothingOutlivesItsWorker(t *testing.T) {
	for _, start := range []string{"away", "grandchild"} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "FAKE_CONTROLLER=0:"+start+"\nsleep 60000", "XDG_RUNTIME_DIR="+runtimeDir(t))
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		late := time.AfterFunc(waitAtMost, func() { cmd.Process.Kill() })
		var dir, ready string
		var a, b, child int
		if _, err := fmt.Fscan(stdout, &dir, &a, &b, &ready, &child); err != nil || syscall.Kill(child, 0) != nil {
			t.Fatal(dir, a, b, ready, child, err)
		}
		late.Stop()
		cmd.Process.Kill()
		cmd.Wait()
		gone(t, a, b, child)

		c := launch(t, 1)
		var child2 int
		if _, err := fmt.Sscan(c.eval(start), &ready, &child2); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(child2, 0); err != nil {
			t.Fatal(err)
		}
		syscall.Kill(c.pids()[0], syscall.SIGKILL)
		gone(t, child2)
	}
}

// The socket of a killed worker is removed.
func TestSocketsOfDeadWorkers(t *testing.T) {
	c := launch(t, 2)
	pid := c.pids()[1]
	socket := filepath.Join(c.c.dir.Path, fmt.Sprintf("r1.%d", pid))
	if err := os.WriteFile(socket, nil, 0o600); err != nil { // as a worker that has passed descriptors would make
		t.Fatal(err)
	}
	syscall.Kill(pid, syscall.SIGKILL)
	soon(t, "the socket is removed", func() bool { _, err := os.Stat(socket); return os.IsNotExist(err) })
}

func BenchmarkCell4(b *testing.B) {
	c := launch(b, 4)
	ctx := context.Background()
	for b.Loop() {
		if r := c.Eval(ctx, session.Cell{Source: "nothing", Silent: true}); len(r.Errors) > 0 {
			b.Fatal(r.Errors[0])
		}
	}
}

func BenchmarkStart4(b *testing.B) {
	for b.Loop() {
		c := launch(b, 4)
		b.StopTimer()
		c.Close()
		b.StartTimer()
	}
}

// A cell that is too long is refused before any rank gets it.
func TestTooLong(t *testing.T) {
	c := launch(t, 2)
	c.want(c.eval("print "+strings.Repeat("x", session.MaxSource)), "! [0,1] misuse the cell has 16777222 bytes of text, and may have 16777216 (read data from a file)\n")
	c.want(c.eval("gather x"), "= [0,1] 01\n")
}
