package main

import (
	"context"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// waited matches the duration of a wait that timed out. The limit is a tenth of a second, and a
// busy machine may take longer.
var waited = regexp.MustCompile(`waited [0-9.]+m?s`)

// The error of an operation cites the line and the column of its call: when the call is refused,
// when the device gives up a wait after the cell has gone on, and when a function of another cell
// makes the call.
func TestPositions(t *testing.T) {
	t.Parallel()
	const limit = ", symm.Timeout(100*time.Millisecond))"
	s := launchHere(t, 2)
	for i, c := range []struct{ cell, want, source string }{
		{"t := symm.Empty(symm.F32, 4)\nh := symm.Rendezvous(t)\nx := 1\n_ = x\nh.PutSignal(9, 0)",
			"[0,1] cell[1]:5:1: put_signal: dst must be in [0, 2), not 9", "h.PutSignal(9, 0)"},
		{"for range 2 {\n\tif x == 1 { t.Slice(2, 9) }\n}", "[0,1] cell[2]:2:14: Slice: [2, 9) is not within the first dimension of 4",
			"\tif x == 1 { t.Slice(2, 9) }"},
		{"func wait() {\n\tif symm.Rank() == 0 {\n\t\th.WaitSignal(1, 3" + limit + "\n\t}\n}", "", ""},
		{"x = 2\nwait()\nx = 3", "[0] cell[3]:3:3: wait_signal: rank 0 waited 100ms for a signal of rank 1 on channel 3, which never came (rank 1 must put it)",
			"\t\th.WaitSignal(1, 3" + limit},
		{"if symm.Rank() == 1 { h.Barrier(2" + limit + " }\nx = 4\nsymm.Synchronize()",
			"[1] cell[5]:1:23: barrier: rank 1 waited 100ms for rank 0 to come to the barrier on channel 2 (rank 0 must make the same call)",
			"if symm.Rank() == 1 { h.Barrier(2" + limit + " }"},
		{"x = 5\nif symm.Rank() == 1 {\n\tsymm.OneShotAllReduce(t, \"sum\"" + limit + "\n}",
			"[1] cell[6]:3:2: one_shot_all_reduce: rank 1 waited 100ms for data of rank 0 (rank 0 must make the same call)",
			"\tsymm.OneShotAllReduce(t, \"sum\"" + limit},
		{"x = 6\nif symm.Rank() == 1 { symm.Empty(symm.F32, 3) }",
			"[1] cell[7]:2:23: Empty: rank 0 finished the cell without it (every member of the group must make this call)",
			"if symm.Rank() == 1 { symm.Empty(symm.F32, 3) }"},
		{"x = 7\nsymm.OneShotAllReduce(t, []string{\"sum\", \"max\"}[symm.Rank()])",
			"[0,1] the ranks have made different collective calls in world: rank 0: 1 call, the last of them one_shot_all_reduce f32[4] sum at cell[8]:2; " +
				"rank 1: 1 call, the last of them one_shot_all_reduce f32[4] max at cell[8]:2 " +
				"(results of this cell may be wrong; make the same calls in the same order, on the same parts of the same tensors, on all of them)", ""},
		{"k := symm.Compile(`\n__global__ void k(int* p) {\n  p[1<<30] = 1;\n}`)\nx = 8\nk.Launch(symm.Grid(1), symm.Block(32), 2.5)",
			`[0,1] cell[9]:6:1: k: k(int* p): argument 1, "int* p", cannot be float64 2.5 (a pointer is given as a tensor, or as a uintptr that is an address on the device)`, "k.Launch(symm.Grid(1), symm.Block(32), 2.5)"},
		{"symm.Capture(func() {\n\tsymm.Empty(symm.F32, 1)\n})",
			"[0,1] cell[10]:2:2: Empty: not allowed while a graph is captured (make this call before the capture, or after a replay)",
			"\tsymm.Empty(symm.F32, 1)"},
		{"x = 9\ng := symm.Capture(func() {\n\tif symm.Rank() == 0 { h.WaitSignal(1, 0" + limit + " }\n})", "", ""},
		{"g.Replay()\nt.Float32s()", "[0] cell[11]:3:24: wait_signal: rank 0 waited 100ms for a signal of rank 1 on channel 0, which never came; " +
			"captured in a graph, last replayed at cell[12]:1 (rank 1 must put it)",
			"\tif symm.Rank() == 0 { h.WaitSignal(1, 0" + limit + " }"},
	} {
		got, source := "", ""
		for _, e := range s.Eval(context.Background(), session.Cell{Source: c.cell}).Errors {
			got += fmt.Sprintf("%s%v", session.Prefix(e.Ranks, 2), e)
			source = e.Source
		}
		if got = waited.ReplaceAllString(got, "waited 100ms"); got != c.want || source != c.source {
			t.Errorf("cell %d: %s in %q\nwant\n%s in %q", i+1, got, source, c.want, c.source)
		}
	}
}

// An operation in a graph is cited by two lines, the line of the captured call and the line of the
// replay, both while it waits and after it has given up. The session knows the captured cell as
// long as the graph lives, whatever the garbage collector frees.
func TestPositionsOfReplays(t *testing.T) {
	t.Parallel()
	s := launchHere(t, 2)
	for _, cell := range []string{
		"h := symm.Rendezvous(symm.Empty(symm.F32, 4))\ng := symm.Capture(func() {\n\tif symm.Rank() == 0 { h.WaitSignal(1, 0) }\n})",
		"import \"runtime\"\nfor range 5 {\n\truntime.GC()\n\ttime.Sleep(5 * time.Millisecond)\n}",
	} {
		if reply := evalPatiently(t, s, session.Cell{Source: cell}); len(reply.Errors) > 0 {
			t.Fatalf("%s: %v", cell, reply.Errors)
		}
	}
	ctx, interrupt := context.WithTimeout(t.Context(), patience())
	defer interrupt()
	var replayed session.Reply
	over := make(chan struct{})
	go func() {
		replayed = s.Eval(ctx, session.Cell{Source: "x := 1\n_ = x\ng.Replay()\nsymm.Synchronize()"})
		close(over)
	}()
	const doing = "waits in wait_signal at cell[1]:3 (last replayed at cell[3]:3) for rank 1: a signal on channel 0"
	for got := ""; got != doing; {
		select {
		case <-over:
			t.Fatalf("the cell has ended with %v; the rank last reported %q", replayed.Errors, got)
		case <-time.After(10 * time.Millisecond):
		}
		ranks, err := s.Ranks(ctx)
		if err != nil {
			t.Fatal(err)
		}
		got = ranks[0].Doing
	}
	interrupt()
	<-over
	const want = "cell[1]:3:24: wait_signal: rank 0 waited 100ms for a signal of rank 1 on channel 0, which never came, and gave up: interrupted; " +
		"captured in a graph, last replayed at cell[3]:3"
	if e := replayed.Errors; len(e) != 1 || waited.ReplaceAllString(e[0].Error(), "waited 100ms") != want {
		t.Errorf("%v, want %s", e, want)
	}
}
