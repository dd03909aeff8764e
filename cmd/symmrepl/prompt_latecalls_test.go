package main

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/pace"
	"github.com/symmrepl/symmrepl/session"
)

// If a compiled call does not return when its cell is interrupted, the call goes on in the
// background. Its rank keeps its process and its variables, and runs the next cell and the next
// collective at once. The session names the call until it returns, and drops its result.
func TestCallsThatDoNotReturn(t *testing.T) {
	t.Parallel()
	calls := []struct{ name, cell, says, release string }{
		{"Accept", `conn, err = l.Accept(); after = true`, "net.(*TCPListener).Accept at cell[",
			`if symm.Rank() == 0 { c, _ := net.Dial("tcp", l.Addr().String()); c.Close() }`},
		{"Accept in a goroutine", `done := make(chan bool); go func() { conn, err = l.Accept(); after = true; done <- true }(); <-done`,
			"net.(*TCPListener).Accept", `if symm.Rank() == 0 { c, _ := net.Dial("tcp", l.Addr().String()); c.Close() }`},
		{"Get from a silent server", `_, err = http.Get("http://" + silent.Addr().String()); after = true`, "http.Get at cell[",
			"silent.Close()"},
		{"read of a pipe", `n, err = r.Read(make([]byte, 1)); after = true`, "io.(*PipeReader).Read at cell[", "w.Close()"},
		{"FIFO", `file, err = os.Open(fifo); after = true`, "os.Open at cell[",
			`if symm.Rank() == 0 { f, _ := os.OpenFile(fifo, os.O_WRONLY, 0); f.Close() }`},
		{"sleep in compiled code", `once.Do(rest); after = true`, "", ""},
		{"sort", `sort.Ints(large); after = true`, "sort.Ints at cell[", ""},
		{"sort with a function of the cell", `sort.Slice(large, func(i, j int) bool { n++; return large[i] < large[j] }); after = true`, "",
			""},
		{"command", `err = exec.Command("sleep", "1000").Run(); after = true`, "", ""},
	}
	const ranks = 2
	s := launchHere(t, ranks)
	eval := func(source string) string {
		t.Helper()
		var said strings.Builder
		reply := evalPatiently(t, s, session.Cell{Source: source, Output: func(o session.Output) { said.WriteString(o.Text) }})
		if len(reply.Errors) > 0 {
			t.Fatalf("%s: %v", source, reply.Errors)
		}
		return said.String()
	}
	// doing returns what rank 0 does. On a loaded machine its worker may not answer in time.
	doing := func() string {
		t.Helper()
		for limit := time.Now().Add(pace.Unhurried(2 * time.Second)); ; {
			infos, err := s.Ranks(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if infos[0].Incarnation != 1 {
				t.Fatal("rank 0 has lost its worker")
			}
			if infos[0].Doing != "does not answer" || time.Now().After(limit) {
				return infos[0].Doing
			}
		}
	}
	eval(`import ("io"; "net"; "math/rand"; "net/http"; "os"; "os/exec"; "sort"; "sync"; "syscall")
var conn net.Conn
var file *os.File
var err error
var once sync.Once
rest := func() { time.Sleep(time.Hour) }
l, _ := net.Listen("tcp", "127.0.0.1:0")
silent, _ := net.Listen("tcp", "127.0.0.1:0")
r, w := io.Pipe()
fifo := fmt.Sprintf("%s/fifo%d", os.TempDir(), os.Getpid())
syscall.Mkfifo(fifo, 0o600)
n, after, large := 0, false, []int{}
kept := symm.Empty(symm.I32, 4).Fill(40 + symm.Rank())`)
	// to sort takes seconds, but not half a minute under the race detector
	eval(`if symm.Rank() == 0 {
	million := rand.Perm(1_000_000)
	begun := time.Now()
	sort.Ints(million)
	large = rand.Perm(int(1e6 * min(15, 6/time.Since(begun).Seconds())))
}`)
	for _, call := range calls {
		t.Run(strings.ReplaceAll(call.name, " ", "_"), func(t *testing.T) {
			eval("n = 0; after = false; err = nil; conn = nil; file = nil")
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			var pressed time.Time
			time.AfterFunc(300*time.Millisecond, func() { pressed = time.Now(); interrupt() })
			reply := s.Eval(ctx, session.Cell{Source: fmt.Sprintf("if symm.Rank() == 0 { %s } else { n = 0 }", call.cell)})
			if len(reply.Errors) != 1 || reply.Errors[0].Kind != session.KindInterrupted {
				t.Fatalf("the cell ended with %v", reply.Errors)
			}
			if took := time.Since(pressed); took > pace.Unhurried(3*time.Second) {
				t.Errorf("the prompt is back %v after the interrupt", took)
			}
			late := doing()
			if call.says != "" && call.name != "sort" && !strings.Contains(late, "1 call of cell[") ||
				!strings.Contains(late, call.says) && late != "" {
				t.Errorf("rank 0 is said to be doing %q", late)
			}
			if got := eval(`{ t := symm.Empty(symm.I32, 4).Fill(symm.Rank() + 1); symm.Rendezvous(t); fmt.Println(symm.OneShotAllReduce(t, "sum").Ints()[3], kept.Ints()[0] - symm.Rank()) }`); got != "3 40\n" {
				t.Errorf("the next collective gives %q", got)
			}
			if call.release != "" {
				eval(call.release)
			}
			for end := time.Now().Add(patience()); doing() != ""; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("rank 0 is still doing %q", doing())
				}
				eval("1")
			}
			if got := eval(`fmt.Println(after, err == nil || err.Error() == "context canceled", conn, file)`); got != "false true <nil> <nil>\n" {
				t.Errorf("after the call has returned, the session shows %q", got)
			}
		})
	}
}

// If an interrupt does not stop a worker, only a second Ctrl-C replaces it. The session says before
// that the rank's variables will be lost.
func TestInsist(t *testing.T) {
	t.Parallel()
	x := newHome(t, 2).terminal("-n", "2", "--device", device())
	pid := x.pid(1)
	x.enter(`if symm.Rank() == 1 { fmt.Println("runs", "here"); select {} }`)
	x.expect("[1] runs here\n")
	signalTo(t, pid, syscall.SIGSTOP)
	done := make(chan struct{})
	defer func() { close(done); syscall.Kill(pid, syscall.SIGCONT) }()
	go func() { // an interrupt lets a stopped process go on
		for {
			select {
			case <-done:
				return
			case <-time.After(200 * time.Microsecond):
				syscall.Kill(pid, syscall.SIGSTOP)
			}
		}
	}()
	x.send(ctrlC)
	x.expect("rank 1 has not stopped, does not answer: its process is stopped (SIGCONT continues it); Ctrl-C again replaces it: its variables are lost\n")
	x.send(ctrlC)
	x.expect("replacing rank 1, which is still busy")
	x.expect("rank 1 was restarted")
	x.enter("symm.WorldSize() + 40")
	x.expect("[0,1] 42\n")
}
