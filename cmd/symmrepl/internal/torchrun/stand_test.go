package torchrun

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/lending"
	"github.com/symmrepl/symmrepl/session"
)

// stands is a rank that stands at two breakpoints. Its tensor "t" has as many elements as the rank has
// passed breakpoints.
func stands(rank int) {
	both := os.NewFile(fd, "")
	passed := 0
	stand := func() { fmt.Fprintf(both, "{\"breakpoint\": %d, \"at\": \"prog.py:%d\"}\n", passed+1, 7+rank/2) }
	fmt.Fprintln(both, `{"watched": 1}`)
	stand()
	for lines := bufio.NewScanner(both); passed < 2 && lines.Scan(); {
		var q struct {
			ID, Ask    uint64
			What, Name string
		}
		json.Unmarshal(lines.Bytes(), &q)
		switch {
		case q.What == "tensor" && q.Name == "silent":
		case q.What == "tensor" && q.Name == "die":
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		case q.What == "tensor" && q.Name != "t":
			fmt.Fprintf(both, "{\"ask\": %d, \"err\": \"%s is no variable\"}\n", q.Ask, q.Name)
		case q.What == "tensor":
			fmt.Fprintf(both, "{\"ask\": %d, \"tensor\": {\"dtype\": \"int32\", \"shape\": [%d]}}\n", q.Ask+99, passed) // of no request
			fmt.Fprintf(both, "{\"ask\": %d, \"tensor\": {\"dtype\": \"int32\", \"shape\": [%d]}}\n", q.Ask, passed)
		case q.What == "variables":
			fmt.Fprintf(both, "{\"ask\": %d, \"variables\": [{\"name\": \"t\"}]}\n", q.Ask)
		case q.What == "continue":
			if passed++; passed < 2 {
				stand()
			}
			fmt.Fprintf(both, "{\"ask\": %d}\n", q.Ask)
		default:
			line, _ := json.Marshal(message{ID: q.ID, Stands: true, Calls: []call{{Op: "breakpoint", Name: "b", Awaited: []int{(rank + 1) % 4}}},
				Main: place{Inside: true}})
			fmt.Fprintf(both, "%s\n", line)
		}
	}
	fmt.Println("on")
}

// attachTo runs the program with 4 ranks in the background and attaches to it.
func attachTo(t *testing.T, p Program) (c *lending.Client, dir string, over func() (Outcome, *shown)) {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	type result struct {
		o Outcome
		s *shown
	}
	results := make(chan result, 1)
	p.Ranks = 4
	go func() {
		o, s, _ := runProgram(t, t.Context(), p, "stands")
		results <- result{o, s}
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the program does not stand")
		}
		running := lending.Running()
		if len(running) == 0 {
			continue
		}
		if found, err := lending.Describe(t.Context(), running[0]); err == nil && found.Stands {
			dir = running[0]
			break
		}
	}
	c, err := lending.Dial(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, dir, func() (Outcome, *shown) {
		r := <-results
		return r.o, r.s
	}
}

// A program that stands is no hang: it is told, lends its tensors, and goes on when somebody says so.
func TestStands(t *testing.T) {
	c, dir, over := attachTo(t, Program{Timeout: 2 * time.Second})
	time.Sleep(3 * time.Second) // longer than a hang, and than the time limit
	p, err := c.Program(t.Context())
	if err != nil || p.Name != "prog.py" || p.Ranks != 4 || p.PID != os.Getpid() || !p.Stands || p.Text != "  rank 0,1  at prog.py:7\n  rank 2,3  at prog.py:8\n" {
		t.Errorf("%+v, %v", p, err)
	}
	if found := lending.Find(t.Context(), fmt.Sprint(os.Getpid())); found != dir {
		t.Errorf("the folder of this process is %q", found)
	}
	of := func(rank int, name string) (*lending.Tensor, error) {
		return lending.Lender{Dir: dir, Rank: rank}.Tensor(t.Context(), name)
	}
	if tensor, err := of(3, "t"); err != nil || tensor.DType != "int32" || !slices.Equal(tensor.Shape, []int{0}) {
		t.Errorf("%+v, %v", tensor, err)
	}
	if list, err := (lending.Lender{Dir: dir, Rank: 1}).Variables(t.Context()); err != nil || len(list) != 1 || list[0].Name != "t" {
		t.Errorf("%+v, %v", list, err)
	}
	for _, wrong := range []struct {
		rank       int
		name, want string
	}{{0, "x", "x is no variable"}, {-1, "t", "has no rank -1"}, {4, "t", "has no rank 4"}, {2, "silent", "rank 2 of prog.py has not answered within 5s"}} {
		if _, err := of(wrong.rank, wrong.name); err == nil || !strings.Contains(err.Error(), wrong.want) {
			t.Errorf("%v, want %q", err, wrong.want)
		}
	}
	if _, err := c.Ask(t.Context(), lending.Request{What: "nonsense"}); err == nil || !strings.Contains(err.Error(), `"nonsense" is no request`) {
		t.Error(err)
	}
	for passed := range 2 {
		if p, err := c.Stop(t.Context(), uint64(passed)); err != nil || !p.Stands || p.Stops != uint64(passed+1) {
			t.Errorf("%+v, %v", p, err)
		}
		if tensor, err := of(2, "t"); err != nil || tensor.Shape[0] != passed {
			t.Errorf("%+v, %v", tensor, err)
		}
		if name, err := (lending.Lender{Dir: dir}).Continue(t.Context()); err != nil || name != "prog.py" {
			t.Error(name, err)
		}
	}
	o, s := over()
	if o.Failed || s.out.String() != "[0 1 2 3] on\n" {
		t.Errorf("failed %v\n%s%s", o.Failed, s.out.String(), s.notes.String())
	}
	if got := strings.Count(s.notes.String(), "prog.py stands in symmrepl.torch.breakpoint() (`symmrepl attach` gives a prompt there, Ctrl-C interrupts it):\n"); got != 2 {
		t.Errorf("told %d times:\n%s", got, s.notes.String())
	}
	_, unlent := of(0, "t")
	_, unstopped := c.Stop(t.Context(), 2)
	_, unmoved := lending.Lender{Dir: dir}.Continue(t.Context())
	for _, err := range []error{unlent, unstopped, unmoved} {
		if err == nil || err.Error() != "the program has ended" {
			t.Error(err)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", dir, err)
	}
}

// A rank that dies while it is asked ends the program, and the request.
func TestDiesWhileItStands(t *testing.T) {
	_, dir, over := attachTo(t, Program{})
	if _, err := (lending.Lender{Dir: dir, Rank: 1}).Tensor(t.Context(), "die"); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Error(err)
	}
	o, s := over()
	if !o.Failed {
		t.Error("the program has not failed")
	}
	wants(t, "notes", s.notes.String(), "rank 1 was killed (SIGKILL); the other ranks are ended:\n", "stands in symmrepl.torch.breakpoint() at prog.py:")
}

// A program that is at no breakpoint cannot go on, and tells what it does.
func TestContinueOfAHang(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	done := make(chan *shown)
	go func() {
		_, s, _ := runProgram(t, t.Context(), Program{Deadlock: session.DeadlockWait, Timeout: 5 * time.Second}, "deadlock")
		done <- s
	}()
	var err error
	for err == nil || !strings.Contains(err.Error(), "waits in wait_signal") {
		for _, dir := range lending.Running() {
			_, err = lending.Lender{Dir: dir}.Continue(t.Context())
		}
		select {
		case s := <-done:
			t.Fatalf("%v\n%s", err, s.notes.String())
		case <-time.After(50 * time.Millisecond):
		}
	}
	wants(t, "error", err.Error(), "prog.py stands at no breakpoint:\n")
	s := <-done
	wants(t, "notes", s.notes.String(), "`symmrepl attach` gives a prompt beside it\n")
}
