package interp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// debugged is a session whose cells are debugged, and its stops.
type debugged struct {
	t     *testing.T
	in    *Interp
	stops chan string // "breakpoint cell[1]:2:3"
	end   chan session.Result
	stop  context.CancelFunc
}

func openDebugged(t *testing.T) *debugged {
	d := &debugged{t: t, in: open(t, Options{}), stops: make(chan string, 16), end: make(chan session.Result, 1)}
	d.in.OnStop(func(reason session.StopReason, at session.Place) {
		d.stops <- fmt.Sprintf("%s %s:%d:%d", reason, at.Name, at.Line, at.Column)
	})
	return d
}

// begin begins a cell with breakpoints on lines.
func (d *debugged) begin(id int, src string, lines ...int) {
	d.in.Break(map[int][]int{id: lines})
	ctx, stop := context.WithTimeout(context.Background(), patient())
	d.stop = stop
	d.t.Cleanup(stop)
	go func() { d.end <- d.in.Eval(ctx, session.Cell{ID: id, Source: src, Debugged: true}) }()
}

// next expects the next stop, or the end of the cell with a value: "= 3".
func (d *debugged) next(want string) {
	d.t.Helper()
	got := ""
	select {
	case got = <-d.stops:
	case r := <-d.end:
		if got = "= " + r.Value; r.Err != nil {
			got = "! " + r.Err.Error()
			if r.Err.Kind == session.KindUnsupported {
				d.t.Log(r.Err.Detail)
			}
		}
	case <-time.After(patient()):
		d.t.Fatalf("%s does not come", want)
	}
	if got != want {
		d.t.Fatalf("%q, want %q", got, want)
	}
}

// ask returns the answer to a query as a text.
func (d *debugged) ask(q session.Query) string {
	d.t.Helper()
	a, err := d.in.Inspect(context.Background(), q)
	if err != nil {
		return "! " + err.Error()
	}
	var parts []string
	for _, f := range a.Frames {
		parts = append(parts, fmt.Sprintf("%s %s:%d", f.Function, f.Name, f.Line))
	}
	for _, v := range a.Locals {
		parts = append(parts, fmt.Sprintf("%s %s %s", v.Name, v.Type, v.Value))
	}
	if a.Result != nil && a.Result.HasValue != (a.Result.Value != "") {
		parts = append(parts, "has a value")
	} else if a.Result != nil {
		parts = append(parts, a.Result.Value)
	}
	return strings.Join(parts, "; ")
}

func (d *debugged) frames() string { return d.ask(session.Query{Topic: session.TopicFrames}) }
func (d *debugged) locals(frame int) string {
	return d.ask(session.Query{Topic: session.TopicLocals, Frame: frame})
}
func (d *debugged) value(frame int, expr string) string {
	return d.ask(session.Query{Topic: session.TopicEvaluate, Frame: frame, Arg: expr})
}

func (d *debugged) equal(got, want string) {
	d.t.Helper()
	if got != want {
		d.t.Errorf("%s\nwant %s", got, want)
	}
}

// A breakpoint in a loop of a cell's own statements: each pass stands, with the loop's variables.
func TestBreakInLoop(t *testing.T) {
	d := openDebugged(t)
	d.begin(1, "sum := 0\nfor i := range 3 {\n\tsq := i * i\n\n\tsum += sq\n}\nsum", 4)
	for i, at := range []string{"i int 0", "i int 1", "i int 2"} {
		d.next("breakpoint cell[1]:5:2")
		d.equal(d.locals(0), fmt.Sprintf("sq int %d; %s", i*i, at))
		d.in.Resume(session.Continue)
	}
	d.next("= 5")
	d.equal(d.frames(), "! no code of the rank stands at a breakpoint")
}

// Functions of earlier cells, methods, closures, deferred calls and generic functions stand, with
// the calls that they are in; steps go over calls, into them and out of them.
func TestSteps(t *testing.T) {
	d := openDebugged(t)
	d.begin(1, strings.Join([]string{
		"type acc struct{ n int }",
		"func (a *acc) add(x int) int {",
		"\ta.n += x",
		"\treturn a.n",
		"}",
		"func twice(a *acc, x int) (r int) {",
		"\tdefer func() { r *= 10 }()",
		"\ta.add(x)",
		"\treturn a.add(x)",
		"}",
		"func largest[T int | float64](list ...T) T {",
		"\tbest := list[0]",
		"\tfor _, x := range list {",
		"\t\tif x > best { best = x }",
		"\t}",
		"\treturn best",
		"}",
	}, "\n"), 4)
	d.next("= ")
	d.begin(2, "a := &acc{1}\nx := twice(a, 2)\ny := largest(1.5, 2.5)\nfmt.Sprint(x, y)")
	d.next("breakpoint cell[1]:4:2")
	d.equal(d.frames(), "main.(*acc).add cell[1]:4; main.twice cell[1]:8; main.main cell[2]:2")
	d.equal(d.locals(1), "r int 0; x int 2; a *acc &acc{n: 3}")
	d.in.Resume(session.StepOut)
	d.next("step cell[1]:9:2")
	d.in.Break(map[int][]int{1: nil})
	d.in.Resume(session.StepIn)
	d.next("step cell[1]:3:2")
	d.in.Resume(session.StepOver)
	d.next("step cell[1]:4:2")
	d.in.Resume(session.StepOver) // into the deferred function, which is called from the same depth
	d.next("step cell[1]:7:17")
	d.equal(d.locals(0), "r int 5; x int 2; a *acc &acc{n: 5}")
	d.in.Resume(session.StepOver)
	d.next("step cell[2]:3:1")
	d.in.Resume(session.StepIn)
	d.next("step cell[1]:12:2")
	d.equal(d.frames(), "main.largest[...] cell[1]:12; main.main cell[2]:3")
	d.in.Resume(session.StepOver)
	d.next("step cell[1]:13:2")
	d.equal(d.locals(0), "best float64 1.5; list []float64 []float64{1.5, 2.5}")
	d.in.Resume(session.Continue)
	d.next(`= "50 2.5"`)
}

// Expressions are evaluated with the variables of the frame, of the session, and functions; what
// they assign is seen by the code that goes on.
func TestEvaluateInFrame(t *testing.T) {
	d := openDebugged(t)
	d.begin(1, "type point struct{ x, y int }\nfunc (p point) sum() int { return p.x + p.y }\nk := 7\n"+
		"func f(n int, list []string, p point) int {\n\ttime := 2\n\tvar any1 any = p\n\tg := func(m int) int { return m + n }\n\treturn n * k + time + g(0) + len(list)\n}", 8)
	d.next("= ")
	d.begin(2, "f(3, []string{\"a\"}, point{1, 2})")
	d.next("breakpoint cell[1]:8:2")
	for _, c := range [][2]string{
		{"n", "3"}, {"n*k + time", "23"}, {"list", `[]string{"a"}`}, {"p.sum() + len(list)", "4"}, {"p", "point{x: 1, y: 2}"}, {"any1.(point).y", "2"},
		{"any1", "point{x: 1, y: 2}"}, {"g(1)", "4"}, {"fmt.Sprint(n, strings.ToUpper(list[0]))", `"3A"`}, {"f(1, nil, p)", "10"},
		{"n, k", "3, 7"}, {"n = 5", ""}, {"list[0] = \"b\"", ""}, {"list", `[]string{"b"}`}, {"*&n", "5"},
		{"nobody", "! evaluate:1:1: undefined: nobody"},
		{"z := 1", "! evaluate:1:1: only an expression or an assignment can be evaluated while code stands"},
		{"list[4]", "! evaluate:1:1: panic: runtime error: index out of range [4] with length 1"},
	} {
		if got := d.value(0, c[0]); got != c[1] {
			t.Errorf("%s is %s, want %s", c[0], got, c[1])
		}
	}
	d.equal(d.value(1, "k"), "7")
	d.equal(d.value(9, "k"), "! there is no frame 9: the rank is in 2")
	d.in.Resume(session.Continue)
	d.next("= 43")
	d.begin(3, "k = 8", 1)
	d.next("breakpoint cell[3]:1:1")
	d.equal(d.value(0, "k"), "7")
	d.in.Resume(session.Continue)
	select {
	case r := <-d.end:
		if r.HasValue {
			t.Errorf("the cell has the value %q of an expression that was evaluated in it", r.Value)
		}
	case <-time.After(patient()):
		t.Fatal("the cell does not end")
	}
	d.begin(4, "n := 4; time.Duration(n)")
	d.next("= 4ns")
}

// An interrupt ends a cell that stands, and the next cell stands again.
func TestInterruptStanding(t *testing.T) {
	d := openDebugged(t)
	d.begin(1, "x := 1\nx++\nx", 2)
	d.next("breakpoint cell[1]:2:1")
	d.stop()
	d.next("! cell[1]:2:1: interrupted")
	d.begin(2, "x", 1)
	d.next("breakpoint cell[2]:1:1")
	d.in.LeaveDebugger()
	d.next("= 1")
}

// A pause stands wherever the code is; code that was compiled without points never stands.
func TestPause(t *testing.T) {
	d := openDebugged(t)
	mustEval(t, d.in, "stop := false\nfunc plain() int {\n\treturn 4\n}")
	d.begin(2, "for !stop {\n\tplain()\n}\nplain()", 4)
	d.in.Pause()
	if got := <-d.stops; got != "pause cell[2]:1:1" && got != "pause cell[2]:2:2" {
		t.Error(got)
	}
	d.equal(d.value(0, "stop = true"), "")
	d.in.Resume(session.StepIn)
	if got := <-d.stops; got == "step cell[2]:2:2" {
		d.in.Resume(session.StepIn)
		got = <-d.stops
		d.equal(got, "breakpoint cell[2]:4:1")
	}
	d.in.Resume(session.StepIn)
	d.next("= 4")
}

// Of several goroutines that reach a breakpoint one stands after the other.
func TestGoroutinesStand(t *testing.T) {
	d := openDebugged(t)
	d.begin(1, "done := make(chan int)\nfor i := range 3 {\n\tgo func() {\n\t\tdone <- i\n\t}()\n}\n(<-done) + (<-done) + (<-done)", 4)
	var seen []string
	for range 3 {
		d.next("breakpoint cell[1]:4:3")
		seen = append(seen, d.locals(0))
		d.in.Resume(session.Continue)
	}
	slices.Sort(seen)
	d.equal(strings.Join(seen, " "), "i int 0 i int 1 i int 2")
	d.next("= 3")
}

func TestStatementLines(t *testing.T) {
	a, err := open(t, Options{}).Inspect(context.Background(), session.Query{Topic: session.TopicLines,
		Arg: "import \"os\"\n\nfunc f() {\n\n\tif true {\n\t\tprintln()\n\t}\n}\nx := 1\n// none\nx, os.Args"})
	if err != nil || fmt.Sprint(a.Lines) != "[5 6 9 11]" {
		t.Errorf("%v %v", a.Lines, err)
	}
}
