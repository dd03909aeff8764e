package main

import (
	"context"
	"flag"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/pace"
	"github.com/symmrepl/symmrepl/session"
)

var allHangs = flag.Bool("hangs", false, "run all the ways to hang, not every twelfth")

// hang is a cell that hangs and a part of the session's explanation. If says is "", the session
// must print nothing.
type hang struct{ name, cell, says string }

// hangs lists the ways to hang. If only one rank hangs, it is rank 0. The session prints nothing
// while all ranks compute or sleep.
var hangs = []hang{
	{"nil channel", "var c chan int; <-c", "a channel receive at"},
	{"channel receive", "c := make(chan int); <-c", "a channel receive at"},
	{"channel send", "c := make(chan int); c <- 1", "a channel send at"},
	{"range over channel", "c := make(chan int); for x := range c { fmt.Println(x) }", "channel"},
	{"receive in a function", "func wait(c chan int) int {\n\treturn <-c\n}\nwait(make(chan int))", "a channel receive at"},
	{"empty select", "select {}", "waits in "},
	{"select of two", "a, b := make(chan int), make(chan int); select { case <-a: case b <- 1: }", "select at"},
	{"one rank's channel", "if symm.Rank() == 0 { <-make(chan int) }", "rank 1  has finished the cell"},
	{"mutex", "import \"sync\"\nvar m sync.Mutex; m.Lock(); m.Lock()", "Lock of a mutex at"},
	{"read lock", "import \"sync\"\nvar m sync.RWMutex; m.Lock(); m.RLock()", "RLock of a mutex at"},
	{"write lock", "import \"sync\"\nvar m sync.RWMutex; m.RLock(); m.Lock()", "Lock of a mutex at"},
	{"wait group", "import \"sync\"\nvar g sync.WaitGroup; g.Add(1); g.Wait()", "Wait of a sync.WaitGroup at"},
	{"condition", "import \"sync\"\nc := sync.NewCond(&sync.Mutex{}); c.L.Lock(); c.Wait()", "Wait of a sync.Cond at"},
	{"sleep", "time.Sleep(time.Hour)", ""},
	{"timer", "<-time.After(time.Hour)", "a channel receive at"},
	{"context", "import \"context\"\nctx, cancel := context.WithCancel(context.Background()); <-ctx.Done(); cancel()",
		"a channel receive at"},
	{"command", "import \"os/exec\"\nexec.Command(\"sleep\", \"1000\").Run()", "a command of os/exec at"},
	{"output of a command", "import \"os/exec\"\nexec.Command(\"sleep\", \"1000\").Output()", "a command of os/exec at"},
	{"goroutines", "c := make(chan int); for range 10 { go func() { c <- <-c }() }; <-c", "a channel receive at"},
	{"accept", "import \"net\"\nl, _ := net.Listen(\"tcp\", \"127.0.0.1:0\"); l.Accept()", "Accept"},
	{"read of a pipe", "import \"io\"\nr, w := io.Pipe(); r.Read(make([]byte, 1)); w.Close()", "Read"},
	{"silent server", "import (\"net\"; \"net/http\")\nl, _ := net.Listen(\"tcp\", \"127.0.0.1:0\"); http.Get(\"http://\" + l.Addr().String())", "http"},
	{"FIFO", "import (\"os\"; \"syscall\")\nname := fmt.Sprintf(\"%s/fifo%d\", os.TempDir(), os.Getpid()); syscall.Mkfifo(name, 0o600); os.Open(name)", "os.Open"},
	{"loop", "for {}", ""},
	{"loop that counts", "n := 0; for { n++ }", ""},
	{"one rank's sleep", "if symm.Rank() == 0 { time.Sleep(time.Hour) }", "rank 1  has finished the cell"},
	{"one rank's loop", "if symm.Rank() == 0 { for {} }", "rank 1  has finished the cell"},
	{"recursion of loops", "func spin(n int) { for { n++ } }\nspin(1)", ""},
	{"sort", "import \"sort\"\nx := make([]int, 30_000_000); for { sort.Ints(x); x[0] = 1 }", ""},
	{"signal that nobody sends", "t := symm.Empty(symm.I32, 4); h := symm.Rendezvous(t); h.WaitSignal(1-symm.Rank(), 3)",
		"a signal on channel 3"},
	{"signal to one rank", "t := symm.Empty(symm.I32, 4); h := symm.Rendezvous(t); if symm.Rank() == 0 { h.WaitSignal(1, 3) }",
		"a signal on channel 3"},
	{"barrier without rank 1", "t := symm.Empty(symm.I32, 4); h := symm.Rendezvous(t); if symm.Rank() == 0 { h.Barrier(2) } else { time.Sleep(time.Hour) }", "time.Sleep at"},
	{"allocation without rank 1", "if symm.Rank() == 0 { symm.Empty(symm.I32, 4) } else { time.Sleep(time.Hour) }", "rank 0 came "},
	{"reduction without rank 1", "t := symm.Empty(symm.I32, 4).Fill(1); symm.Rendezvous(t); if symm.Rank() == 0 { symm.OneShotAllReduce(t, \"sum\") } else { for {} }", "one_shot_all_reduce"},
	{"signals in a circle", "t := symm.Empty(symm.I32, 4); h := symm.Rendezvous(t); h.WaitSignal(1-symm.Rank(), 1); h.PutSignal(1-symm.Rank(), 1)", "waits in wait_signal at cell["},
	{"barrier that rank 1 has skipped", "t := symm.Empty(symm.I32, 4); h := symm.Rendezvous(t); if symm.Rank() == 0 { h.Barrier(2) }",
		"has finished the cell"},
	{"groups in different orders", "a, b := symm.NewGroup(0), symm.NewGroup(1); c := make(chan int); <-c; _, _ = a, b",
		"a channel receive at"},
	{"synchronize", "k := symm.Compile(`__global__ void spin(volatile int* p) { while (p[0] == 0) {} }`)\nt := symm.Local(symm.I32, 1).Fill(0); k.Launch(symm.Grid(1), symm.Block(1), t); symm.Synchronize()", "spin, launched at cell["},
	{"kernel at the end of the cell", "k := symm.Compile(`__global__ void spin(volatile int* p) { while (p[0] == 0) {} }`)\nt := symm.Local(symm.I32, 1).Fill(0); k.Launch(symm.Grid(1), symm.Block(1), t)", "spin, launched at cell["},
	{"one rank's kernel", "k := symm.Compile(`__global__ void lone(volatile int* p) { while (p[0] == 0) {} }`)\nt := symm.Local(symm.I32, 1).Fill(0); if symm.Rank() == 0 { k.Launch(symm.Grid(1), symm.Block(1), t) }", "lone, launched at cell["},
}

// The session explains every hang within two seconds, by a remark or by the error that ends the
// cell. It gives the prompt back within three seconds of the interrupt, and the next collective is
// right.
func TestHangs(t *testing.T) {
	const (
		explained = 2 * time.Second
		back      = 3 * time.Second
		slack     = time.Second // for a machine with other load
	)
	s := launchHere(t, 2)
	for i, hang := range hangs {
		if !*allHangs && i%12 != 0 {
			continue
		}
		t.Run(strings.ReplaceAll(hang.name, " ", "_"), func(t *testing.T) {
			limit := pace.Unhurried(5 * time.Second)
			if hang.says == "" {
				limit = 3 * time.Second
			}
			ctx, interrupt := context.WithTimeout(t.Context(), limit)
			defer interrupt()
			var said strings.Builder
			var told, stopped time.Duration
			began := time.Now()
			reply := s.Eval(ctx, session.Cell{Source: hang.cell, Output: func(o session.Output) {
				said.WriteString(o.Text)
				if o.Stream == session.Note && stopped == 0 && hang.says != "" && strings.Contains(said.String(), hang.says) {
					told = time.Since(began)
					stopped = told
					interrupt()
				}
			}})
			ended := time.Since(began)
			for _, e := range reply.Errors {
				if text := e.Msg + "\n" + e.Detail; e.Kind == session.KindDeadlock && told == 0 && strings.Contains(text, hang.says) {
					said.WriteString(text)
					told, stopped = ended, ended
				}
			}
			switch {
			case hang.says == "" && said.Len() > 0:
				t.Errorf("the session says %s, want nothing", said.String())
			case hang.says == "":
				told, stopped = limit, limit
			case told == 0:
				t.Errorf("not explained: %s", said.String())
			case told > pace.Unhurried(explained+slack):
				t.Errorf("explained after %v", told)
			}
			if took := ended - stopped; told != 0 && took > pace.Unhurried(back+slack) {
				t.Errorf("the prompt is back %v after the interrupt", took)
			}
			t.Logf("explained after %.2f s, back after %.2f s: %s", told.Seconds(), (ended - told).Seconds(),
				regexp.MustCompile(`\s+`).ReplaceAllString(said.String(), " "))
			reply = evalPatiently(t, s, session.Cell{Source: "{ t := symm.Empty(symm.I32, 4).Fill(symm.Rank() + 1); symm.Rendezvous(t); fmt.Println(symm.OneShotAllReduce(t, \"sum\").Ints()[3]) }", Output: func(o session.Output) { said.WriteString(o.Text) }})
			if len(reply.Errors) > 0 || !strings.HasSuffix(said.String(), "3\n") {
				t.Errorf("the next collective: %v %s", reply.Errors, said.String())
			}
		})
	}
}

// At a terminal the table of what ranks wait for is one block, and each update overwrites the
// previous one.
func TestTableInPlace(t *testing.T) {
	t.Parallel()
	x := newHome(t, 2).terminal("-n", "2", "--device", device())
	x.enter("if symm.Rank() == 0 { select {} }")
	for range 3 {
		x.expect("[0,1] cell 1 has run for ")
		x.expect(" and waits (Ctrl-C interrupts it):\n[0,1]   rank 0  waits in ")
	}
	x.send(ctrlC)
	x.expect("^C interrupting")
	x.enter("symm.WorldSize() + 40")
	x.expect("[0,1] 42\n")
	x.mu.Lock()
	defer x.mu.Unlock()
	raw := x.raw.String()
	tables, over := strings.Count(raw, "cell 1 has run for "), strings.Count(raw, "\x1b[A\x1b[A\x1b[A\r\x1b[J")
	if tables < 3 || over != tables-1 {
		t.Errorf("%d tables, of which %d were written over another:\n%q", tables, over, raw)
	}
}
