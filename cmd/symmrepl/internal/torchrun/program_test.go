package torchrun

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// The test binary is also the program: its first argument names what a rank does.
func TestMain(m *testing.M) {
	if rank := os.Getenv("RANK"); rank != "" && len(os.Args) > 1 {
		n, _ := strconv.Atoi(rank)
		programs[os.Args[1]](n)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var programs = map[string]func(rank int){
	"prints": func(rank int) {
		fmt.Println("same on all")
		fmt.Fprintln(os.Stderr, "rank", rank)
		fmt.Println(os.Getenv("WORLD_SIZE"), os.Getenv("MASTER_ADDR"), os.Getenv("LOCAL_WORLD_SIZE"), os.Getenv(variable), os.Args[2:])
	},
	"labels": func(rank int) { fmt.Printf("[rank%d]: Traceback:\nx [rank0]: y\n[rank%d]: end\n", rank, rank) },
	"fails": func(rank int) {
		if rank == 1 {
			os.Exit(3)
		}
		time.Sleep(time.Hour)
	},
	"is killed": func(rank int) {
		if rank == 0 {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		time.Sleep(time.Hour)
	},
	"is stopped": func(rank int) {
		answers(func(m *message) {
			m.Stands, m.Calls = true, []call{{Op: "barrier", Members: []int{0, 1}, Sure: true, Awaited: []int{1 - rank}, Name: "b"}}
		}, 0)
		if rank == 1 {
			syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		}
		time.Sleep(time.Hour)
	},
	"ignores": func(int) {
		exec.Command("sh", "-c", "trap '' TERM; sleep 1000").Start()
		exec.Command("setsid", "sleep", "1000").Start()
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		time.Sleep(time.Hour)
	},
	"garbage": func(rank int) {
		to := os.NewFile(fd, "")
		fmt.Fprintf(to, "{\n\nnull\n[1]\n{\"id\": \"x\"}\n{\"id\": 99999999999999999999999}\n%s\n", strings.Repeat("x", maxLine+10))
		fmt.Fprintf(to, "{\"id\": 0, \"calls\": [{}], \"main\": {\"inside\": true}, \"records\": [{\"peer\": 4000000000}]}\n")
		fmt.Fprintf(to, "{\"id\": 0, \"calls\": [], \"main\": {\"inside\": true}}\n")
		to.Close()
		fmt.Println("done")
	},
	// rank 0 waits for a signal of rank 1, which waits for rank 0 in another call
	"deadlock": func(rank int) {
		answers(func(m *message) {
			m.Stands = true
			one := call{Op: "wait_signal", Group: "world", Members: []int{0, 1}, At: "prog.py:7 in step", Pad: "0/1", Untaken: [][2]int{{1, 5}, {7, 0}}}
			if rank == 1 {
				m.Puts = []put{{Pad: "0/2", Channel: 5, At: "prog.py:1"}, {Pad: "0/1", To: 1, Channel: 5, At: "prog.py:2"}, {Pad: "0/1", Channel: 5, At: "prog.py:3"}}
				one = call{Op: "barrier", Group: "world", Ordinal: 1, Name: "world/barrier 1", Sure: true, Awaited: []int{0}, What: "the same call",
					Since: time.Since(began).Seconds(), At: "prog.py:9"}
			} else {
				json.Unmarshal([]byte(fmt.Sprintf(`[{"kind": 1, "peer": 1, "channel": 3, "elapsed": %d, "began": 5}]`, time.Since(began))), &m.Records)
			}
			m.Calls, m.Main.Inside = []call{one}, true
		}, time.Hour)
	},
	"ended": func(rank int) {
		if rank == 1 {
			return
		}
		answers(func(m *message) {
			m.Stands, m.Main.Inside = true, true
			m.Calls = []call{{Op: "recv", Group: "world", Sure: true, Awaited: []int{1}, What: "its other side", At: "prog.py:3"}}
		}, time.Hour)
	},
	"silent": func(int) { time.Sleep(time.Hour) },
	"stands": stands,
}

var began = time.Now()

// joins is the variable with the socket of a run that has not started the rank.
const joins = "TEST_JOINS"

// answers answers the questions in the background, and returns after a time.
func answers(fill func(*message), after time.Duration) {
	var both io.ReadWriter = os.NewFile(fd, "")
	hello := `{"watched": 1}`
	if socket := os.Getenv(joins); socket != "" {
		conn, err := net.Dial("unix", socket)
		if err != nil {
			panic(err)
		}
		both, hello = conn, fmt.Sprintf(`{"watched": 1, "rank": %s}`, os.Getenv("RANK"))
	}
	fmt.Fprintln(both, hello)
	go func() {
		for lines := bufio.NewScanner(both); lines.Scan(); {
			var m message
			if json.Unmarshal(lines.Bytes(), &m) == nil {
				fill(&m)
				line, _ := json.Marshal(&m)
				fmt.Fprintf(both, "%s\n", line)
			}
		}
	}()
	time.Sleep(after)
}

// shown collects the output of a run.
type shown struct{ out, err, notes strings.Builder }

func (s *shown) emit(o session.Output) {
	b := map[session.Stream]*strings.Builder{session.Stdout: &s.out, session.Stderr: &s.err, session.Note: &s.notes}[o.Stream]
	for line := range strings.Lines(o.Text) {
		fmt.Fprintf(b, "%v %s", o.Ranks, line)
	}
}

func runProgram(t *testing.T, ctx context.Context, p Program, args ...string) (o Outcome, s *shown, took time.Duration) {
	t.Helper()
	s = &shown{}
	p.Name, p.Command, p.Emit = "prog.py", append([]string{os.Args[0]}, args...), s.emit
	if p.Ranks == 0 {
		p.Ranks = 2
	}
	begin := time.Now()
	o, err := p.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return o, s, time.Since(begin)
}

func wants(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%s", what, part, text)
		}
	}
}

// Output is folded, and ranks have torchrun's variables.
func TestOutput(t *testing.T) {
	o, s, _ := runProgram(t, t.Context(), Program{Ranks: 3, Version: "1.2.3"}, "prints", "a", "--b")
	if o.Failed || s.out.String() != "[0 1 2] same on all\n[0 1 2] 3 127.0.0.1 3 3 1.2.3 [a --b]\n" || s.notes.Len() > 0 {
		t.Errorf("failed %v\n%s%s", o.Failed, s.out.String(), s.notes.String())
	}
	wants(t, "standard error", s.err.String(), "[0] rank 0\n", "[1] rank 1\n", "[2] rank 2\n")
}

// PyTorch's labels would keep equal lines apart.
func TestLabels(t *testing.T) {
	if _, s, _ := runProgram(t, t.Context(), Program{}, "labels"); s.out.String() != "[0 1] Traceback:\n[0 1] x [rank0]: y\n[0 1] end\n" {
		t.Error(s.out.String())
	}
	u := newUnlabelled(1)
	if got := string(u.cut([]byte("a"))) + string(u.cut([]byte("[rank1]: b\n"))) + string(u.cut([]byte("[rank1]: [rank0]: c"))); got != "a[rank1]: b\n[rank0]: c" {
		t.Errorf("%q", got)
	}
}

// A rank that fails is named, and the others are ended.
func TestFailures(t *testing.T) {
	for _, c := range []struct{ program, want string }{
		{"fails", "rank 1 exited with status 3; the other ranks are ended:\n"},
		{"is killed", "rank 0 was killed (SIGKILL); the other ranks are ended:\n"},
	} {
		o, s, _ := runProgram(t, t.Context(), Program{}, c.program)
		if !o.Failed {
			t.Errorf("%s: failed %v", c.program, o.Failed)
		}
		wants(t, c.program, s.notes.String(), c.want)
	}
}

// A wait that cannot end is explained, and the ranks are ended.
func TestDeadlocks(t *testing.T) {
	for _, c := range []struct {
		program string
		want    []string
	}{
		{"deadlock", []string{"prog.py is ended, because these waits cannot end:\n",
			"rank 0  waits in wait_signal at prog.py:7 in step for rank 1: a signal on channel 3; rank 1 has put one on channel 5 at prog.py:3, rank 7 has put one on channel 0, for ",
			"rank 1  waits in barrier #1 at prog.py:9 for rank 0: the same call, for "}},
		{"ended", []string{"rank 0  waits in recv at prog.py:3 for rank 1: its other side", "rank 1  has ended\n"}},
	} {
		o, s, took := runProgram(t, t.Context(), Program{Timeout: time.Minute}, c.program)
		if !o.Failed || took > 30*time.Second {
			t.Errorf("%s: failed %v after %v", c.program, o.Failed, took)
		}
		wants(t, c.program, s.notes.String(), c.want...)
	}
}

// With DeadlockWait the same wait is told, and goes on until the time limit.
func TestDeadlockWait(t *testing.T) {
	o, s, _ := runProgram(t, t.Context(), Program{Deadlock: session.DeadlockWait, Timeout: 4 * time.Second}, "deadlock")
	if !o.Failed {
		t.Errorf("failed %v", o.Failed)
	}
	wants(t, "notes", s.notes.String(), " and waits (Ctrl-C interrupts it):\n", "prog.py has reached its time limit of 4s, and is ended:\n")
}

// The port of the ranks is theirs from the start on, though rank 0 listens there later.
func TestFreePort(t *testing.T) {
	port, file, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if l, err := net.Listen("tcp4", fmt.Sprintf("0.0.0.0:%d", port)); err != nil {
		t.Error(err)
	} else {
		l.Close()
	}
}

// What a rank cannot say itself is said in its place.
func TestSilentRanks(t *testing.T) {
	for _, c := range []struct{ program, want string }{
		{"silent", "has not imported symmrepl.torch"},
		{"is stopped", "its process is stopped (SIGCONT continues it)"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		_, s, _ := runProgram(t, ctx, Program{}, c.program)
		cancel()
		wants(t, c.program, s.notes.String(), "prog.py is interrupted:\n", c.want)
	}
}

// A rank that ignores SIGTERM is killed, and so is what it has started.
func TestNothingIsLeft(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	mark := fmt.Sprintf("SYMMREPL_TEST_MARK=%d", os.Getpid())
	name, value, _ := strings.Cut(mark, "=")
	t.Setenv(name, value)
	begin := time.Now()
	o, _, took := runProgram(t, ctx, Program{}, "ignores")
	if !o.Failed || took > 20*time.Second {
		t.Errorf("failed %v after %v", o.Failed, took)
	}
	for deadline := begin.Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		left := 0
		names, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, name := range names {
			if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), mark) {
				left++
			}
		}
		if left == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d processes are left", left)
		}
	}
}

// Lines that are no messages do no harm.
func TestGarbage(t *testing.T) {
	o, s, _ := runProgram(t, t.Context(), Program{}, "garbage")
	if o.Failed || s.out.String() != "[0 1] done\n" {
		t.Errorf("failed %v\n%s%s", o.Failed, s.out.String(), s.notes.String())
	}
}

// A program that cannot be started is an error.
func TestNoInterpreter(t *testing.T) {
	p := Program{Name: "prog.py", Command: []string{"no-such-python"}, Ranks: 2, Emit: func(session.Output) {}}
	if _, err := p.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "there is no no-such-python, which runs the program") {
		t.Error(err)
	}
}

// No answer ends this process.
func FuzzStatus(f *testing.F) {
	f.Add([]byte(`{"id": 1, "stands": true, "calls": [{"own": true}, {"awaited": [1]}], "main": {"inside": true}, "records": [{"kind": 1}]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var m message
		if json.Unmarshal(line, &m) == nil {
			m.status(thread{}, 1, func(*call) string { return "" })
		}
	})
}
