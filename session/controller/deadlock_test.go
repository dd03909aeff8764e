package controller

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/pace"
	"github.com/symmrepl/symmrepl/session"
)

// A cell whose waits no rank will end is ended within two seconds, and each error says what the
// awaited ranks do instead. A cell that may still complete goes on.
func TestDeadlock(t *testing.T) {
	c := launch(t, 3)
	const table = "rank 0    waits in wait_signal at in:4 for rank 1: a signal on channel 3, for 1.5 s\nrank 1,2  has finished the cell\n"
	for _, test := range []struct {
		cell   string
		ranks  []int
		want   []string // the errors; none if the cell is not ended
		detail string
	}{
		{"0:vain 1", nil, []string{"[0] rank 1 has finished the cell"}, table},
		{"0:vain 1\n2:fail early", nil, []string{"[0] rank 1 has finished the cell", "[2] early"}, ""},
		{"0:vain 1\n1:vain 2\n2:vain 0", nil, []string{"[0] rank 1 waits in wait_signal at in:4",
			"[1] rank 2 waits in wait_signal at in:4", "[2] rank 0 waits in wait_signal at in:4"}, ""},
		{"0:vain 1\n1:vain 2", nil, []string{"[0] rank 1 waits in wait_signal at in:4", "[1] rank 2 has finished the cell"}, ""},
		{"0:vain 2", []int{0, 1}, []string{"[0] rank 2 does not run the cell"}, ""},
		{"0:call a 1\n1:call b 0", nil, []string{"[0] rank 1 made another call #1 in world: b; rank 1 waits in b", "[1] rank 0 made another call #1 in world: a; rank 0 waits in a"}, ""},
		{"0:call a 1\n1:call a 2", nil, []string{"[0] rank 1 waits in a", "[1] rank 2 has finished the cell"}, ""},
		{"0:call a 1\n1:call a 0", nil, nil, ""}, // they answer each other
		{"0:vain 1\n1:sleep 3000", nil, nil, ""},
		{"0:limited 1", nil, nil, ""},
		{"0:vain 1\n1:wait 0", nil, nil, ""},
		{"0:vain 1\n2:sleep 3000", nil, nil, ""},
		{"0:vain 1\n2:behind", nil, nil, ""}, // from here on rank 2 has a goroutine that still runs
		{"0:vain 1", []int{0}, nil, ""},
	} {
		limit := 2800 * time.Millisecond // a cell that is not ended is interrupted then
		if test.want != nil {
			limit = patience
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		began := time.Now()
		reply := c.Eval(ctx, session.Cell{Source: test.cell, Ranks: test.ranks, Output: func(session.Output) {}})
		took := time.Since(began)
		cancel()
		var got []string
		for _, e := range reply.Errors {
			if e.Kind == session.KindDeadlock && (e.Detail == "" || e.Op == "") {
				t.Errorf("%s: %+v", test.cell, e)
			}
			if e.Kind == session.KindDeadlock || e.Kind == session.KindPanic {
				got = append(got, fmt.Sprintf("[%s] %s", session.FormatRanks(e.Ranks), e.Msg))
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s on %v: %q, want %q", test.cell, test.ranks, got, test.want)
		}
		if test.want != nil && took > pace.Unhurried(2*time.Second) {
			t.Errorf("%s was ended after %v", test.cell, took)
		}
		if d := test.detail; d != "" && !strings.HasPrefix(reply.Errors[0].Detail, d[:strings.Index(d, " 1.5")]) {
			t.Errorf("%s: detail\n%swant\n%s", test.cell, reply.Errors[0].Detail, d)
		}
	}
	c.want(c.eval("gather x"), "= [0-2] 012\n")
}

// Code that goes on after such an error may wait in vain again, and is ended again.
func TestDeadlockAgain(t *testing.T) {
	c := launch(t, 3)
	began := time.Now()
	c.want(c.eval("0:maybe 1\n0:maybe 2\n0:vain 2"), "! [0] deadlock in:3: rank 2 has finished the cell\n")
	if took := time.Since(began); took > pace.Unhurried(6*time.Second) {
		t.Errorf("ended after %v", took)
	}
}

// A timer that a cell has set may end a wait.
func TestTimerIsNoDeadlock(t *testing.T) {
	c := launch(t, 2)
	c.eval("1:timer")
	ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
	defer cancel()
	if reply := c.Eval(ctx, session.Cell{Source: "0:vain 1"}); len(reply.Errors) != 1 || reply.Errors[0].Kind == session.KindDeadlock {
		t.Errorf("%v", reply.Errors)
	}
}

// With DeadlockWait the table is shown and the wait goes on.
func TestDeadlockWait(t *testing.T) {
	runtimeDir(t)
	s, err := Launch(context.Background(), session.Config{Ranks: 2, Deadlock: session.DeadlockWait})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
	defer cancel()
	var said strings.Builder
	reply := s.Eval(ctx, session.Cell{Source: "0:vain 1", Output: func(o session.Output) { said.WriteString(o.Text) }})
	told := regexp.MustCompile(`rank 0  waits in wait_signal at in:4 for rank 1: a signal on channel 3, for [1-9]\.\d s`)
	if len(reply.Errors) != 1 || reply.Errors[0].Kind == session.KindDeadlock || !told.MatchString(said.String()) {
		t.Errorf("%v, said %s", reply.Errors, said.String())
	}
}

// Ranks that wait in a ring are called a cycle, in the detail of the error and in its field.
func TestDeadlockInACycle(t *testing.T) {
	c := launch(t, 4)
	reply := c.Eval(t.Context(), session.Cell{Source: "0:vain 2\n1:vain 3\n2:vain 1\n3:vain 0", Output: func(session.Output) {}})
	if len(reply.Errors) == 0 {
		t.Fatal("no error")
	}
	for _, e := range reply.Errors {
		if e.Kind != session.KindDeadlock || !slices.Equal(e.Cycle, []int{0, 2, 1, 3}) ||
			!strings.HasSuffix(e.Detail, "\na cycle of 4 waits: rank 0 → 2 → 1 → 3 → 0\n") {
			t.Errorf("%v %v\n%s", e, e.Cycle, e.Detail)
		}
	}
}
