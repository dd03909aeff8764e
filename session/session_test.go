package session

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// console is a session and what it shows.
type console struct {
	Session
	t    testing.TB
	size int
	c    *controller

	mu  sync.Mutex
	out []Output
}

func launch(t testing.TB, size int) *console {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	s, err := Launch(context.Background(), Config{Ranks: size, KillAfter: 400 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &console{Session: s, t: t, size: size, c: s.(*controller)}
}

// eval runs a cell and returns everything it showed, a line each.
func (c *console) eval(source string, ranks ...int) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return c.evalContext(ctx, source, ranks...)
}

func (c *console) evalContext(ctx context.Context, source string, ranks ...int) string {
	var b strings.Builder
	reply := c.Eval(ctx, Cell{Source: source, Name: "in", Line: 1, Ranks: ranks, Output: func(o Output) {
		for line := range strings.Lines(o.Text) {
			if o.Stream == Note {
				b.WriteString("note ")
			}
			if o.Stream == Stderr {
				b.WriteString("err ")
			}
			b.WriteString(Prefix(o.Ranks, c.size) + strings.TrimSuffix(line, "\n") + "\n")
		}
	}})
	for _, v := range reply.Values {
		fmt.Fprintf(&b, "= %s%s\n", Prefix(v.Ranks, c.size), v.Text)
	}
	for _, e := range reply.Errors {
		fmt.Fprintf(&b, "! %s%s %v\n", Prefix(e.Ranks, c.size), e.Kind, e)
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
	if err != nil || len(history) != 13 || history[4].ID != 5 || history[4].Source != "print on RANK" || !reflect.DeepEqual(history[4].Ranks, []int{2, 0}) {
		t.Errorf("history: %+v, %v", history, err)
	}
}

func TestLeavesNothing(t *testing.T) {
	c := launch(t, 2)
	pids := c.pids()
	dir := c.c.dir.path
	c.Close()
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
			t.Errorf("worker %d: %v", pid, err)
		}
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s: %v", dir, err)
	}
}

func BenchmarkCell4(b *testing.B) {
	c := launch(b, 4)
	ctx := context.Background()
	for b.Loop() {
		if r := c.Eval(ctx, Cell{Source: "nothing", Silent: true}); len(r.Errors) > 0 {
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
