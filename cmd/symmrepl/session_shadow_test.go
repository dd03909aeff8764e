package main

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console/command"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/shadow"
	"github.com/symmrepl/symmrepl/interp/replay"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/controller"
	"github.com/symmrepl/symmrepl/symmem/filediff"
)

// shadowCells use what a second session has to have: symmetric memory that other ranks change, a
// kernel, a function, structures, numbers.
const shadowCells = "x := symm.Empty(symm.F32, 1000).Rand(7)\n" +
	"h := symm.Rendezvous(x)\n" +
	"next := (symm.Rank()+1) % symm.WorldSize()\n" +
	"k := symm.Compile(`__global__ void scale(float* p, int n, float a) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { p[i] *= a; } }`)\n" +
	"type layer struct { w *symm.Tensor; steps int }\n" +
	"layers := []layer{{w: symm.Local(symm.BF16, 64).Rand(symm.Rank())}, {}}\n" +
	"func step(a float32) { layers[0].steps++; k.Launch(symm.Grid(4), symm.Block(256), x, 1000, a*float32(layers[0].steps)); layers[0].w.Add(1, symm.Into(layers[0].w)) }\n" +
	"step(3)\n"

// secondRows are the rows of the cpu device in what a program printed.
func secondRows(out string) (rows []string) {
	row := regexp.MustCompile(`(?m)^(?:symm> |\[\S+\] )*cpu device +(?:-|[0-9.]+[a-zµ]+)  (.*)$`)
	for _, m := range row.FindAllStringSubmatch(out, -1) {
		rows = append(rows, m[1])
	}
	return rows
}

// TestCompareSecond compares code with the cpu device: right code is equal for all numbers of ranks
// and hosts, code that depends on a device's clock is not, and what cannot be compared is named.
func TestCompareSecond(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-n", "1"}, {"-n", "2"}, {"-n", "4"}, {"-n", "4", "--hosts", "2"}} {
		h := newHome(t, 4)
		r := h.run(shadowCells+
			":compare --device cpu symm.AllReduce(x, \"sum\")\n"+
			":compare --device cpu step(2); fmt.Println(\"rank\", symm.Rank())\n"+
			"n := 1\n"+
			":compare --device cpu h.Barrier(0); h.Put(next, symm.Local(symm.F32, 1000).Fill(symm.Rank() + n)); h.Barrier(1); n++\n"+
			":compare --device cpu symm.AllGather(layers[0].w)\n"+
			":compare --device cpu symm.AllReduce(x, \"avg\")\n"+
			"n, layers[0].steps\n"+
			":compare --device cpu fmt.Println(time.Now().Year())\n"+
			"ch := make(chan int, 1)\n"+
			":compare --device cpu ch <- 1; <-ch\n"+
			":compare --device cpu symm.Local(symm.F32, 8); h.Barrier(0)\n"+
			"ticks := symm.Compile(`__global__ void ticks(long long* p) { p[0] = clock64(); }`)\n"+
			"at := symm.Local(symm.I64, 1)\n"+
			":compare --device cpu ticks.Launch(symm.Grid(1), symm.Block(1), at)\n", append(args, "--device", device())...)
		rows := secondRows(r.out)
		want := []string{
			`equal: (x, )?the result`, `equal: x, layers\[0\].w, layers\[0\].steps, the output`, `equal: x, n`,
			`equal: the result`, `equal: (x, )?the result`,
			`cannot: time.Now .*the clock shows another time.*`, `cannot: the variable ch of type chan int cannot be sent: .*`,
			`equal, but the code changes nothing that can be compared: .*`, `differs: element 0 of at, on rank \d: \d+, not \d+(; \d elements differ)?`,
		}
		if !slices.EqualFunc(rows, want, func(row, want string) bool { return regexp.MustCompile("^" + want + "$").MatchString(row) }) {
			t.Errorf("%v: the rows are\n%s\nwant\n%s\nin\n%s%s", args, strings.Join(rows, "\n"), strings.Join(want, "\n"), r.out, r.err)
		}
		if !strings.Contains(r.out, "2, 2\n") { // as after one run of each code
			t.Errorf("%v: afterwards the variables are others:\n%s", args, r.out)
		}
		h.expectNothingLeft()
	}
}

// TestCompareLeavesNothing: the cells that a comparison with the cpu device runs are in no list that
// a user sees, and their names mean nothing to later cells.
func TestCompareLeavesNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	h.cwd = t.TempDir()
	r := h.run("x := symm.Empty(symm.F32, 4).Fill(1)\n"+
		"x.Fill(2);\n"+
		":compare --device cpu x.Fill(3); symm.AllReduce(x, \"sum\")\n"+
		":vars\n:history\n:why\n"+
		":save s.go\n$ cat s.go\n:export e.go\n$ cat e.go\n"+
		"replay.Rank()\n:type replayFmt\nreplayOS?\nreplaySymm.Rank()\n", "--device", device(), "-n", "2")
	if !slices.Equal(secondRows(r.out), []string{"equal: x, the result"}) {
		t.Fatalf("the comparison shows\n%s%s", r.out, r.err)
	}
	if regexp.MustCompile(`(?i)replay|json|\bcompare:`).MatchString(r.out) {
		t.Errorf("a comparison leaves something in\n%s", r.out)
	}
	if want := regexp.MustCompile(`(?m)^(?:symm> )?\[0,1\] cell\[3\]:1: all_reduce `); !want.MatchString(r.out) {
		t.Errorf(":why shows not the code compared but\n%s", r.out)
	}
	if strings.Count(r.err, "undefined: replaySymm") != 1 || strings.Count(r.err, "undefined: replayFmt") != 1 {
		t.Errorf("names of its packages are known:\n%s", r.err)
	}
	x := h.terminal("--device", device(), "-n", "2")
	x.expect("symm> ")
	x.send(":compare --device cpu symm.Local(symm.F32, 2).Fill(1)\r")
	x.expect("cpu device")
	x.expect("symm> ")
	x.send("replayS" + tab + "\r") // would become replaySymm
	x.expect("undefined: replayS\n")
	x.send(ctrlD)
}

// wrong is a session whose kernels multiply wrongly, and that counts how often it is emptied.
type wrong struct {
	session.Session
	emptied *int
}

func (w wrong) Eval(ctx context.Context, cell session.Cell) session.Reply {
	cell.Source = strings.Replace(cell.Source, "p[i] *= a", "p[i] *= i == 7 ? a * 1.0000002f : a", 1)
	return w.Session.Eval(ctx, cell)
}

func (w wrong) Restart(ctx context.Context, ranks []int, replay bool, out func(session.Output)) error {
	*w.emptied++
	return w.Session.Restart(ctx, ranks, replay, out)
}

// TestCompareFinds lets the second device be wrong in one element. The second session is started
// once, runs each cell once, and is emptied only for code that needs an earlier cell.
func TestCompareFinds(t *testing.T) {
	watchedHome(t)
	s := launchHere(t, 2)
	opened, emptied := 0, 0
	second := shadow.New(s, shadow.Tools{
		Device: "cpu", Always: true,
		Open: func(ctx context.Context, _ [][]int) (session.Session, error) {
			opened++
			s, err := controller.Launch(ctx, session.Config{Ranks: 2, Device: "cpu", Private: true})
			return wrong{s, &emptied}, err
		},
		Of:     func(history []session.Cell, code string) (shadow.Needs, error) { return replay.Of(history, code) },
		Differ: filediff.Compare,
	})
	t.Cleanup(second.Close)
	c := &console.Console{Session: s, Size: 2, Commands: command.All(command.Programs{}), Shadow: second}
	enter := func(entry string) []string {
		ctx, cancel := context.WithTimeout(t.Context(), patience())
		defer cancel()
		var out strings.Builder
		if outcome := c.Run(ctx, console.Request{Source: entry, Printer: render.New(&out, &out, 2, false)}); outcome != console.Done {
			t.Fatalf("%s\nfailed: %s", entry, out.String())
		}
		return secondRows(out.String())
	}
	enter("x := symm.Empty(symm.F32, 16)")
	enter("y := symm.Local(symm.F32, 2).Fill(2)")
	for cell := range strings.Lines(shadowCells) {
		if strings.HasPrefix(cell, "k := ") {
			enter(cell)
		}
	}
	for _, step := range []struct{ entry, want string }{
		{":compare x.Fill(1); k.Launch(symm.Grid(1), symm.Block(32), x, 8, float32(2))",
			"differs: element 7 of x, on rank 0: 2.000000476837158, not 2, 2 ulps apart; 2 elements differ, 2 ulps at most"},
		{":compare x.Fill(1); k.Launch(symm.Grid(1), symm.Block(32), x, 7, float32(2))", "equal: x"},
		{":compare y.Add(1, symm.Into(y))", "equal: y, the result"}, // needs a cell before the kernel's
		{"%%compare --device cpu\ny.Fill(symm.Rank() + 5)", "equal: y, the result"},
	} {
		if got := enter(step.entry); !slices.Equal(got, []string{step.want}) {
			t.Errorf("%s\nshows %q, want %q", step.entry, got, step.want)
		}
	}
	if opened != 1 || emptied != 1 {
		t.Errorf("the second session was opened %d times and emptied %d times, want 1 and 1", opened, emptied)
	}
}
