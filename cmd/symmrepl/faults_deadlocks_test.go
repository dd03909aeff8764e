package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/pace"
	"github.com/symmrepl/symmrepl/session"
)

// deadlock is a cell of three ranks whose waits cannot end, and the errors with which the session
// ends them.
type deadlock struct {
	name, cell string
	ranks      []int // nil: all
	errors     []string
	hint       string // of the first error
}

var deadlocks = []deadlock{
	{"signal that nobody sends", "if rank == 0 { h.WaitSignal(1, 3) }", nil,
		[]string{`[0] wait_signal: rank 0 waited TIME for a signal of rank 1 on channel 3, which never came: rank 1 has finished the cell`},
		"rank 1 must put it"},
	{"signal on another channel", "switch rank { case 0: h.PutSignal(1, 2); case 1: h.WaitSignal(0, 3) }", nil,
		[]string{`[1] wait_signal: rank 1 waited TIME for a signal of rank 0 on channel 3, which never came: rank 0 has finished the cell`},
		"rank 0 must put it: rank 0 signalled channel 2, rank 1 waits on 3"},
	{"all wait first", "h.WaitSignal(left, 0); h.PutSignal(right, 0); symm.Synchronize()", nil, []string{
		`[0] wait_signal: rank 0 waited TIME for a signal of rank 2 on channel 0, which never came: rank 2 waits in wait_signal at CELL`,
		`[1] wait_signal: rank 1 waited TIME for a signal of rank 0 on channel 0, which never came: rank 0 waits in wait_signal at CELL`,
		`[2] wait_signal: rank 2 waited TIME for a signal of rank 1 on channel 0, which never came: rank 1 waits in wait_signal at CELL`,
	}, "rank 2 must put it"},
	{"two puts", "h.PutSignal(right, 0); h.PutSignal(right, 0); h.WaitSignal(left, 0)", nil, []string{
		`[0] put_signal: rank 0 waited TIME for rank 1 to consume the previous signal on channel 0: rank 1 waits in put_signal at CELL`,
		`[1] put_signal: rank 1 waited TIME for rank 2 to consume the previous signal on channel 0: rank 2 waits in put_signal at CELL`,
		`[2] put_signal: rank 2 waited TIME for rank 0 to consume the previous signal on channel 0: rank 0 waits in put_signal at CELL`,
	}, "rank 1 must wait for each signal it is sent"},
	{"more puts than a queue takes", "for range 2000 { h.PutSignal(right, 0) }", nil, []string{
		`[0] put_signal: refused, since a wait before it could not end: rank 1 waits in put_signal at CELL`,
		`[1] put_signal: refused, since a wait before it could not end: rank 2 waits in put_signal at CELL`,
		`[2] put_signal: refused, since a wait before it could not end: rank 0 waits in put_signal at CELL`,
	}, ""},
	{"barrier that a rank skips", "if rank != 0 { h.Barrier(1) }", nil, []string{
		`[1] barrier: rank 1 waited TIME for rank 0 to come to the barrier on channel 1: rank 0 has finished the cell`,
		`[2] barrier: rank 2 waited TIME for rank 0 to come to the barrier on channel 1: rank 0 has finished the cell`,
	}, "rank 0 must make the same call"},
	{"barriers on other channels", "h.Barrier(1 + min(rank, 1)); symm.Synchronize()", nil, []string{
		`[0] barrier: rank 0 waited TIME for rank (1|2) to come to the barrier on channel 1: .*`,
		`[1] barrier: rank 1 waited TIME for rank (0|2) to come to the barrier on channel 2: .*`,
		`[2] barrier: rank 2 waited TIME for rank (0|1) to come to the barrier on channel 2: .*`,
	}, "rank [12] must make the same call"},
	{"reduction that a rank skips", `if rank != 2 { symm.OneShotAllReduce(t, "sum") }`, nil, []string{
		`[0] one_shot_all_reduce: rank 0 waited TIME for data of rank 2: rank 2 has finished the cell`,
		`[1] one_shot_all_reduce: rank 1 waited TIME for data of rank 2: rank 2 has finished the cell`,
	}, "rank 2 must make the same call"},
	{"reduction and signal", `if rank == 1 { h.WaitSignal(0, 1); symm.Synchronize() }; symm.OneShotAllReduce(t, "sum")`, nil, []string{
		`[0] one_shot_all_reduce: rank 0 waited TIME for data of rank 1: rank 1 waits in wait_signal at CELL`,
		`[1] wait_signal: rank 1 waited TIME for a signal of rank 0 on channel 1, which never came: rank 0 waits in one_shot_all_reduce f32\[8\] sum at CELL`,
		`[2] one_shot_all_reduce: rank 2 waited TIME for data of rank 1: rank 1 waits in wait_signal at CELL`,
	}, "rank 1 must make the same call"},
	{"allocation and signal", `if rank == 0 { h.WaitSignal(1, 1); symm.Synchronize() }; symm.Empty(symm.F32, 4)`, nil, []string{
		`[0] wait_signal: rank 0 waited TIME for a signal of rank 1 on channel 1, which never came: rank 1 waits in Empty at CELL`,
		`[1,2] Empty: waited in vain for the other ranks: rank 0 waits in wait_signal at CELL`,
	}, "rank 1 must put it"},
	{"word that nobody sets", `if rank == 0 { h.WaitForSignal(3, ">=", 7) }`, nil, []string{
		`[0] wait_for_signal: rank 0 waited TIME for signal word 3 to become 7; it is 0: rank 1,2 has finished the cell`,
	}, "another rank must set it, as by PutWithSignal or SignalAdd"},
	{"rank that does not run the cell", "h.WaitSignal(1, 1)", []int{0}, []string{
		`[0] wait_signal: rank 0 waited TIME for a signal of rank 1 on channel 1, which never came: rank 1 does not run the cell`,
	}, "rank 1 must put it"},
	{"in a graph", "g := symm.Capture(func() { h.WaitSignal(left, 4) }); g.Replay(); symm.Synchronize()", []int{0}, []string{
		`[0] wait_signal: rank 0 waited TIME for a signal of rank 2 on channel 4, which never came: rank 2 does not run the cell; captured in a graph, last replayed at CELL`,
	}, "rank 2 must put it"},
	{"on a second stream", "s := symm.NewStream(); h.WaitSignal(left, 0); h.PutSignal(right, 0, s); symm.Synchronize()", []int{1}, []string{
		`[1] wait_signal: rank 1 waited TIME for a signal of rank 0 on channel 0, which never came: rank 0 does not run the cell`,
	}, "rank 0 must put it"},
	{"after a rank has failed", `if rank == 0 { h.WaitSignal(1, 3) }; if rank == 2 { panic("early") }`, nil, []string{
		`[0] wait_signal: rank 0 waited TIME for a signal of rank 1 on channel 3, which never came: rank 1 has finished the cell`,
		`[2] panic: early`,
	}, "rank 1 must put it"},
	{"while a rank reads", "if rank == 0 { h.WaitSignal(1, 3); _ = t.Float32s() }", nil, []string{
		`[0] wait_signal: rank 0 waited TIME for a signal of rank 1 on channel 3, which never came: rank 1 has finished the cell`,
	}, "rank 1 must put it"},
}

// If a wait cannot end, the session ends it within two seconds. The error gives the reason, and its
// detail says what all ranks do. The session goes on.
func TestDeadlocks(t *testing.T) {
	t.Setenv("SYMMREPL_NET", "null")
	for _, hosts := range []string{"", "3"} {
		t.Run("hosts_"+strings.ReplaceAll(hosts, "/", ","), func(t *testing.T) {
			t.Parallel() // each wait takes seconds
			h, err := session.ParseHosts(hosts, 3)
			if err != nil {
				t.Fatal(err)
			}
			s := launchOn(t, 3, h)
			eval := func(source string, ranks []int) (session.Reply, string) {
				var said strings.Builder
				reply := evalPatiently(t, s, session.Cell{Source: source, Ranks: ranks,
					Output: func(o session.Output) { said.WriteString(o.Text) }})
				return reply, said.String()
			}
			if reply, _ := eval("rank := symm.Rank(); left, right := (rank+2)%3, (rank+1)%3; t := symm.Empty(symm.F32, 8).Fill(1); h := symm.Rendezvous(t)", nil); len(reply.Errors) > 0 {
				t.Fatal(reply.Errors)
			}
			for _, d := range deadlocks {
				if hosts != "" && (strings.Contains(d.cell, "Reduce") || strings.Contains(d.cell, "Barrier")) {
					continue // the hosts decide which ranks wait for which
				}
				began := time.Now()
				reply, said := eval(d.cell, d.ranks)
				took := time.Since(began)
				var got []string
				for _, e := range reply.Errors {
					got = append(got, fmt.Sprintf("[%s] %s", session.FormatRanks(e.Ranks), e.Msg))
					if e.Kind != session.KindDeadlock && e.Kind != session.KindPanic {
						t.Errorf("%s: %+v", d.name, e)
					}
					if e.Kind == session.KindDeadlock &&
						!regexp.MustCompile(`(?m)^rank `+session.FormatRanks(e.Ranks)+
							` +waits in .*, for [1-4]\.\d s$|^rank .* waits in `).MatchString(e.Detail) {
						t.Errorf("%s: the detail is\n%s", d.name, e.Detail)
					}
				}
				want := strings.NewReplacer("TIME", `[1-4](\.\d+)?s`, "CELL", `cell\[\d+\]:1( \(last replayed at cell\[\d+\]:1\))?`, "[0]",
					`\[0\]`, "[1]", `\[1\]`, "[2]", `\[2\]`, "[1,2]", `\[1,2\]`).Replace(strings.Join(d.errors, "\n"))
				if !regexp.MustCompile("^" + want + "$").MatchString(strings.Join(got, "\n")) {
					t.Errorf("%s on hosts %q:\n%s\nwant\n%s", d.name, hosts, strings.Join(got, "\n"), strings.Join(d.errors, "\n"))
				} else if !regexp.MustCompile("^" + d.hint + "$").MatchString(reply.Errors[0].Hint) {
					t.Errorf("%s: the hint is %q, want %q", d.name, reply.Errors[0].Hint, d.hint)
				}
				if said != "" {
					t.Errorf("%s: said %s", d.name, said)
				}
				t.Log(d.name, took)
				if took > pace.Unhurried(2*time.Second+2*time.Second) {
					t.Errorf("%s took %v", d.name, took)
				}
				if reply, _ := eval(`symm.AllReduce(t.Fill(rank+1), "sum").Float32s()[7]`, nil); len(reply.Errors) > 0 ||
					len(reply.Values) != 1 || reply.Values[0].Text != "6" {
					t.Fatalf("after %s: %+v", d.name, reply)
				}
			}
		})
	}
}

// After a deadlock ended a wait, the next cell can still look at data that was put and not awaited.
func TestClearedSignals(t *testing.T) {
	t.Parallel()
	r := newHome(t, 2).run("h := symm.Rendezvous(symm.Empty(symm.F32, 4))\n"+
		"if symm.Rank() == 0 { h.PutSignal(1, 2); h.PutSignal(1, 7) } else { h.WaitSignal(0, 3) }\n"+
		"fmt.Println(symm.ClearedSignals())\n"+
		"fmt.Println(symm.PendingSignals())\n", "-n", "2", "--device", device())
	const want = "[0] []\n[1] [world: a signal of rank 0 on channel 2 was not awaited world: a signal of rank 0 on channel 7 was not awaited]\n[0,1] []\n"
	if r.out != want || !strings.Contains(r.err, "hint: rank 0 must put it: rank 0 signalled channel 2, 7, rank 1 waits on 3\n") {
		t.Errorf("%+v", r)
	}
}

// A wait that something may still end is no deadlock, even if it takes long: the cell goes on, and
// its result is right.
func TestNoDeadlocks(t *testing.T) {
	const late = "3500*time.Millisecond"
	cells := []struct {
		name  string
		cells []string // the last one waits
		ranks []int    // of the last
	}{
		{"a rank sleeps", []string{"if rank == 1 { time.Sleep(" + late + "); h.PutSignal(0, 1) } else if rank == 0 { h.WaitSignal(1, 1) }"},
			nil},
		{"a rank computes", []string{"if rank == 1 { for begun := time.Now(); time.Since(begun) < " + late +
			"; {}; h.PutSignal(0, 1) } else if rank == 0 { h.WaitSignal(1, 1) }"}, nil},
		{"a goroutine of a rank that has finished", []string{"if rank == 1 { go func() { time.Sleep(" + late +
			"); h.PutSignal(0, 1) }() } else if rank == 0 { h.WaitSignal(1, 1) }"}, nil},
		{"a goroutine of an earlier cell", []string{"if rank == 1 { go func() { time.Sleep(" + late + "); h.PutSignal(0, 1) }() }",
			"h.WaitSignal(1, 1)"}, []int{0}},
		{"a goroutine that waits for a channel", []string{"var c = make(chan int)",
			"if rank == 1 { go func() { <-c; h.PutSignal(0, 1) }(); go func() { time.Sleep(" + late + "); c <- 1 }() }",
			"h.WaitSignal(1, 1)"}, []int{0}},
		{"a rank's command", []string{"import \"os/exec\"",
			"if rank == 1 { exec.Command(\"sleep\", \"3.5\").Run(); h.PutSignal(0, 1) } else if rank == 0 { h.WaitSignal(1, 1) }"}, nil},
		{"a kernel computes", []string{"k := symm.Compile(`__global__ void k(float* x, long long n) { float y = *x; for (long long i = 0; i < n; i++) y = y * 0.5f + 1.0f; *x = y; }`)\nx := symm.Local(symm.F32, 1)",
			"if rank == 1 { k.Launch(symm.Grid(1), symm.Block(1), x, 2_000_000_000); h.PutSignal(0, 1) } else if rank == 0 { h.WaitSignal(1, 1) }"}, nil},
		{"a kernel of the user's waits",
			[]string{"w := symm.Compile(`__global__ void w(volatile int* x) { while (*x == 0) {} }`)\nx := symm.Local(symm.I32, 1).Fill(0); s := symm.NewStream()",
				"if rank == 1 { w.Launch(symm.Grid(1), symm.Block(1), x); h.PutSignal(0, 1); go func() { time.Sleep(" + late +
					"); symm.OnStream(s, func() { x.Fill(1) }) }() } else if rank == 0 { h.WaitSignal(1, 1) }"}, nil},
		{"waits with a limit", []string{"symm.Maybe(func() { if rank == 0 { h.WaitSignal(1, 1, symm.Timeout(" + late +
			")); symm.Synchronize() } })"}, nil},
		// the last case: the session cannot tell when the last timer is gone
		{"a timer", []string{"if rank == 1 { time.AfterFunc(" + late + ", func() { h.PutSignal(0, 1) }) } else if rank == 0 { h.WaitSignal(1, 1) }"}, nil},
	}
	for some := range slices.Chunk(cells, 4) { // each takes seconds, so sessions run them side by side
		t.Run(some[0].name, func(t *testing.T) {
			t.Parallel()
			s := launchHere(t, 2)
			eval := func(source string, ranks []int) (session.Reply, string) {
				var said strings.Builder
				reply := evalPatiently(t, s, session.Cell{Source: source, Ranks: ranks,
					Output: func(o session.Output) { said.WriteString(o.Text) }})
				return reply, said.String()
			}
			eval("rank := symm.Rank(); t := symm.Empty(symm.F32, 8).Fill(1); h := symm.Rendezvous(t)", nil)
			for _, c := range some {
				for i, source := range c.cells {
					var ranks []int
					if i == len(c.cells)-1 {
						ranks = c.ranks
					}
					began := time.Now()
					reply, said := eval("{\n"+source+"\n}", ranks)
					if strings.Contains(source, ":=") && !strings.Contains(source, "begun") || strings.HasPrefix(source, "import") ||
						strings.HasPrefix(source, "var") {
						reply, said = eval(source, ranks)
					}
					if len(reply.Errors) > 0 {
						t.Fatalf("%s: %v after %v, said %s", c.name, reply.Errors, time.Since(began), said)
					}
					if took := time.Since(began); i == len(c.cells)-1 && took < 2800*time.Millisecond {
						t.Errorf("%s took %v only", c.name, took)
					}
				}
			}
		})
	}
}

// A wait is no deadlock while its message is under way, even if the message takes long.
func TestSlowNetworkIsNoDeadlock(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	h.env = append(h.env, "SYMMREPL_NET=null delay=3s", "SYMMREPL_HOSTS=2")
	began := time.Now()
	r := h.run("h := symm.Rendezvous(symm.Empty(symm.F32, 4))\n"+
		"if symm.Rank() == 0 { h.PutSignal(1, 2) } else { h.WaitSignal(0, 2); symm.Synchronize(); fmt.Println(\"it came\") }\n", "-n", "2",
		"--device", device())
	if r.status != 0 || r.out != "[1] it came\n" {
		t.Errorf("after %v: %+v", time.Since(began), r)
	}
}

// If the wait for a value was given up, showing that value does not hide the error.
func TestShownValueHidesNoError(t *testing.T) {
	t.Parallel()
	r := newHome(t, 2).run("t := symm.Empty(symm.F32, 4).Fill(1); symm.Rendezvous(t)\n"+
		"if symm.Rank() == 0 { time.Sleep(1500*time.Millisecond) }; symm.OneShotAllReduce(t, \"sum\", symm.Timeout(500*time.Millisecond))\n", "-n", "2", "--device", device())
	if r.status != 1 || !strings.Contains(r.err, "[1] cell[2]:1:60: one_shot_all_reduce: rank 1 waited ") {
		t.Errorf("%+v", r)
	}
}
