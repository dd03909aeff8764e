package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/fold"
	"github.com/symmrepl/symmrepl/session/watchdog"
)

// debugTest is a session of fakes and a debugger of it.
type debugTest struct {
	*console
	session.Debugger
	events chan session.DebugEvent
}

func newDebugTest(t *testing.T, c *console, s session.Session) *debugTest {
	t.Helper()
	d := &debugTest{console: c, events: make(chan session.DebugEvent, 256)}
	var err error
	d.Debugger, err = s.Debug(context.Background(), func(e session.DebugEvent) { d.events <- e })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Debugger.Close() })
	return d
}

// breakAt sets breakpoints on lines of all later cells.
func (d *debugTest) breakAt(source session.BreakpointSource, lines ...int) string {
	d.t.Helper()
	list, err := d.SetBreakpoints(context.Background(), source, lines)
	if err != nil {
		d.t.Fatal(err)
	}
	var parts []string
	for _, b := range list {
		parts = append(parts, strings.TrimSpace(fmt.Sprint(b.Asked, " ", b.Line, " ", b.Verified, " ", b.Reason)))
	}
	return strings.Join(parts, "; ")
}

// shows describes a stop.
func shows(s *session.Stop) string {
	var parts []string
	for _, r := range s.Ranks {
		text := fmt.Sprint(r.Rank, " ", r.State)
		switch {
		case r.State == session.Stands:
			text += fmt.Sprint(" ", r.Reason, " ", r.Place.Name, ":", r.Place.Line)
		case r.Doing != "":
			text += " " + r.Doing
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// complete waits for a complete stop that reads as want, and returns it.
func (d *debugTest) complete(want string) *session.Stop {
	d.t.Helper()
	last := ""
	for deadline := time.After(waitAtMost); ; {
		select {
		case e := <-d.events:
			if e.Stopped == nil {
				continue
			}
			if last = shows(e.Stopped); e.Stopped.Complete && last == want {
				return e.Stopped
			}
		case <-deadline:
			d.t.Fatalf("the stop %q does not come; the last was %q", want, last)
		}
	}
}

func (d *debugTest) resume(how session.Resume) {
	d.t.Helper()
	if err := d.Resume(context.Background(), how); err != nil {
		d.t.Fatal(err)
	}
}

// All ranks stand before a line, are asked and stepped, and finish; a front end that attaches does
// the same as one of the session itself.
func TestStand(t *testing.T) {
	for _, attach := range []bool{false, true} {
		c := launch(t, 2)
		s := c.Session
		if attach {
			var err error
			if s, err = Attach(context.Background(), c.c.dir.Path); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
		}
		d := newDebugTest(t, c, s)
		const cell = "print a\n\nprint b\nprint c\nvalue done"
		if got, want := d.breakAt(session.BreakpointSource{Text: cell}, 2, 9), "2 3 true; 9 9 false no statement begins on line 9 or after it"; got != want {
			t.Errorf("breakpoints %q, want %q", got, want)
		}
		d.breakAt(session.BreakpointSource{Text: cell}, 3)
		_, shown := c.start(cell)
		d.complete("0 stands breakpoint in:3, 1 stands breakpoint in:3")
		frames, err := d.Frames(context.Background(), 1)
		if err != nil || fmt.Sprint(frames) != "[{main.main {1 in 3 1 print b}}]" {
			t.Errorf("%v %v", frames, err)
		}
		reply, err := d.Evaluate(context.Background(), nil, 0, "r RANK")
		if err != nil || fmt.Sprint(reply.Values) != "[{[0] r 0 map[] map[]} {[1] r 1 map[] map[]}]" {
			t.Errorf("%v %v", reply, err)
		}
		d.resume(session.StepOver)
		stop := d.complete("0 stands step in:4, 1 stands step in:4")
		if stop.ID != 2 || stop.Cell != 1 || stop.Reason != session.AfterStep {
			t.Errorf("%+v", stop)
		}
		d.resume(session.Continue)
		got := shown()
		if attach { // the cell's own front end gets one remark, at any place among the output
			const remark = "note [0,1] the debugger of another front end has stopped this cell at in:3: the cell goes on when that debugger " +
				"resumes it or leaves; Ctrl-C interrupts it\n"
			if strings.Count("\n"+got, "\n"+remark) != 1 {
				t.Errorf("%q does not have the remark once", got)
			}
			got = strings.Replace(got, remark, "", 1)
		}
		if want := "[0,1] a\n[0,1] b\n[0,1] c\n= [0,1] done\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if err := d.Resume(context.Background(), session.Continue); err == nil || err.Error() != errNotStopped.Error() {
			t.Error(err)
		}
		if list, err := d.Breakpoints(context.Background()); err != nil || len(list) != 1 || !list[0].Verified {
			t.Errorf("%v %v", list, err)
		}
	}
}

// One rank stands, one has finished, and one waits for the first, for longer than the watchdog and
// the looks for a deadlock take: nothing is reported, also when the ranks go on.
func TestStandIsNoHang(t *testing.T) {
	c := launch(t, 3)
	d := newDebugTest(t, c, c.Session)
	const longer = watchdog.HangAfter + watchdog.LookEvery*watchdog.LooksAlike + time.Second
	d.breakAt(session.BreakpointSource{}, 1)
	interrupt, shown := c.start("2:value z\n1:vain 2\n0:nothing")
	d.complete("0 finished has finished the cell, 1 waits waits in wait_signal at in:4 for rank 2: a signal on channel 3, 2 stands breakpoint in:1")
	time.Sleep(longer)
	interrupt()
	if got := shown(); strings.Contains(got, "has run for") || !strings.Contains(got, "[2] interrupted") {
		t.Error(got)
	}
	_, shown = c.start("2:nothing\ngather a")
	d.complete("0 waits runs, 1 waits runs, 2 stands breakpoint in:1")
	time.Sleep(longer)
	d.resume(session.Continue)
	if got := shown(); got != "= [0-2] 012\n" {
		t.Error(got)
	}
}

// Interrupting, leaving, and the death of a rank end the stop.
func TestStandEnds(t *testing.T) {
	c := launch(t, 2)
	d := newDebugTest(t, c, c.Session)
	d.breakAt(session.BreakpointSource{}, 2)
	interrupt, shown := c.start("nothing\nvalue x")
	d.complete("0 stands breakpoint in:2, 1 stands breakpoint in:2")
	interrupt()
	if got := shown(); !strings.Contains(got, "interrupted") {
		t.Error(got)
	}
	_, shown = c.start("nothing\nvalue x")
	d.complete("0 stands breakpoint in:2, 1 stands breakpoint in:2")
	infos, err := c.Ranks(context.Background())
	if err != nil || infos[1].PID == 0 {
		t.Fatal(infos, err)
	}
	syscall.Kill(infos[1].PID, syscall.SIGKILL)
	for {
		e := receive(t, "the stop without rank 1", d.events)
		if e.Stopped != nil && e.Stopped.Ranks[1].State == session.Finished && e.Stopped.Ranks[0].State == session.Stands {
			break
		}
	}
	d.resume(session.Continue)
	if got := shown(); !strings.Contains(got, "[0] x") || !strings.Contains(got, "[1] ") || !strings.Contains(got, "SIGKILL") {
		t.Error(got)
	}
	_, shown = c.start("nothing\nvalue x")
	d.complete("0 stands breakpoint in:2, 1 stands breakpoint in:2")
	d.Close()
	if got := shown(); got != "= [0,1] x\n" {
		t.Error(got)
	}
	if got := c.eval("nothing\nvalue y"); got != "= [0,1] y\n" { // no cell is debugged any more
		t.Error(got)
	}
}

// A command from before a cell does not apply to the cell, also on a rank that takes longer: a
// debugger that was closed does not let it go on.
func TestStandAfterLeaving(t *testing.T) {
	c := launch(t, 2)
	c.eval("1:leave 300")
	newDebugTest(t, c, c.Session).Close()
	d := newDebugTest(t, c, c.Session)
	d.breakAt(session.BreakpointSource{}, 1)
	_, shown := c.start("value x")
	d.complete("0 stands breakpoint in:1, 1 stands breakpoint in:1")
	time.Sleep(500 * time.Millisecond)
	reply, err := d.Evaluate(context.Background(), nil, 0, "r RANK")
	if err != nil || fmt.Sprint(reply.Values, reply.Errors) != "[{[0] r 0 map[] map[]} {[1] r 1 map[] map[]}] []" {
		t.Errorf("%v %v", reply, err)
	}
	d.resume(session.Continue)
	if got := shown(); got != "= [0,1] x\n" {
		t.Error(got)
	}
}

// The limit of a program does not run while ranks stand.
func TestStandAndLimit(t *testing.T) {
	c := launch(t, 1)
	d := newDebugTest(t, c, c.Session)
	d.breakAt(session.BreakpointSource{}, 1)
	const limit = 300 * time.Millisecond
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, session.Limit(limit))
	defer cancel()
	done := make(chan session.Reply, 1)
	go func() { done <- c.Eval(ctx, session.Cell{Source: "value x"}) }()
	d.complete("0 stands breakpoint cell[1]:1")
	<-ctx.Done()
	select {
	case r := <-done:
		t.Fatalf("the cell has ended: %v", r)
	case <-time.After(2 * fold.Tick):
	}
	d.resume(session.Continue)
	if r := receive(t, "the reply", done); len(r.Errors) > 0 || r.Values[0].Text != "x" {
		t.Errorf("%v", r)
	}
	if !errors.As(context.Cause(ctx), new(session.Limit)) {
		t.Error(context.Cause(ctx))
	}
}
