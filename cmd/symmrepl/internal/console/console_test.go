package console_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func TestCells(t *testing.T) {
	t.Chdir(t.TempDir()) // a cell writes t.pftrace
	for _, test := range []struct {
		entry  string
		source string
		ranks  []int
		line   int
	}{
		{"x := 1", "x := 1", nil, 1},
		{"  x := 1 \n", "  x := 1", nil, 1},
		{"%%rank [0,2]\nx := 1\ny := 2", "x := 1\ny := 2", []int{0, 2}, 2},
		{"%%rank 1-3\nx", "x", []int{1, 2, 3}, 2},
		{"%%rank[3]\nx", "x", []int{3}, 2},
		{"%%rank all\nx", "x", []int{0, 1, 2, 3}, 2},
		{":on 0,2 fmt.Println(1)", "fmt.Println(1)", []int{0, 2}, 1},
		{"%on [1] x = 2", "x = 2", []int{1}, 1},
		{":time x = 2", "x = 2", nil, 1},
		{"%time\n\nx = 2", "x = 2", nil, 3},
		{"%%time\nx = 2", "x = 2", nil, 2},
		{"%%on 1\nx = 2", "x = 2", []int{1}, 2},
		{"%%trace --out t.pftrace\nx = 2", "x = 2", nil, 2},
		{"%%cuda\n__global__ void k(int* x) {}\n", "k := symm.Compile(`\n__global__ void k(int* x) {}`)", nil, 1},
		{"%%cuda twice -g 2,2 x\n__global__ void k(int* x) {}",
			"twice := symm.Compile(`\n__global__ void k(int* x) {}`)\ntwice.Launch(symm.Grid(2,2), symm.Block(1), x)", nil, 1},
		{"%%cuda -b 32 f(x, 1), \"a b\" t.Slice(0, 4)\n// __global__ void no()\n__global__ void __launch_bounds__(32) k(int* x) {}",
			"k := symm.Compile(`\n// __global__ void no()\n__global__ void __launch_bounds__(32) k(int* x) {}`)\nk.Launch(symm.Grid(1), symm.Block(32), f(x, 1), \"a b\", t.Slice(0, 4))", nil, 1},
		{"%%cuda\n__global__ void k() {} // `k`", "k := symm.Compile(`\n__global__ void k() {} // ` + \"`\" + `k` + \"`\" + ``)", nil, 1},
	} {
		c, fake, out := newConsole()
		if got := c.Run(context.Background(), test.entry); got != console.Done {
			t.Errorf("%q: outcome %v: %s", test.entry, got, out)
			continue
		}
		cell := fake.Cells[0]
		if cell.Source != test.source || !reflect.DeepEqual(cell.Ranks, test.ranks) || cell.Line != test.line {
			t.Errorf("%q: cell %q on %v, line %d", test.entry, cell.Source, cell.Ranks, cell.Line)
		}
	}
}

func TestRefusals(t *testing.T) {
	for entry, want := range map[string]string{
		":nosuch":            `no command is called "nosuch"; :help lists them`,
		":restrat":           `no command is called "restrat"; did you mean :restart? :help lists them`,
		":h":                 `"h" may be any of :history :hint :help`,
		":":                  `no command is called ""; :help lists them`,
		":type":              ":type needs EXPRESSION; :help type says more",
		":ranks 3":           `:ranks takes nothing, but was given "3"`,
		":on 7":              ":on: ",
		":on x y":            ":on: ",
		":history ten":       `:history: a number of cells is expected, not "ten"`,
		":history 0":         `:history: a number of cells is expected, not "0"`,
		"%%cell\nx":          "%%cell is unknown: cells begin with %%rank [0,2], %%cuda, or a command that takes code, as %%time",
		"%%ti\nx":            "%%ti is unknown: ",
		"%%vars\nx":          "%%vars is unknown: ",
		"%%time":             "%%time: the cell's code is expected on the lines below",
		"%%cuda\nint k() {}": "%%cuda: the cell has no kernel: a function that is declared __global__",
		"%%cuda k x\n__global__ void k(int* x) {}":  "%%cuda: x is an argument of a launch, which -g GRID or -b BLOCK before it asks for",
		"%%cuda k -g\n__global__ void k(int* x) {}": "%%cuda: -g needs a size, such as 4 or 4,2",
		"%%rank [9]\nx":     "%%rank: ",
		"%%rank [0]":        "%%rank [0]: the cell's code is expected on the lines below",
		"$":                 "$: a shell command is expected, such as $ nvidia-smi",
		"$ exit 3":          "$: exit status 3",
		":restart 9":        ":restart: ",
		":help nosuch":      `:help: no command is called "nosuch"`,
		":restart replay 1": ":restart: ",
	} {
		c, fake, out := newConsole()
		if got := c.Run(context.Background(), entry); got != console.Failed {
			t.Errorf("%q: outcome %v", entry, got)
		}
		if !strings.HasPrefix(out.String(), want) {
			t.Errorf("%q: printed %q, want %q", entry, out, want)
		}
		if len(fake.Cells)+len(fake.Restarted) > 0 {
			t.Errorf("%q reached the session", entry)
		}
	}
}

func TestShell(t *testing.T) {
	c, _, out := newConsole()
	if got := c.Run(context.Background(), "$ printf 'a\\nb'; echo c >&2"); got != console.Done {
		t.Errorf("outcome %v", got)
	}
	if got := strings.Fields(out.String()); len(got) != 3 {
		t.Errorf("printed %q", out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got := c.Run(ctx, "$ sleep 60"); got != console.Failed {
		t.Errorf("an interrupted shell line: outcome %v", got)
	}
}

func TestReplies(t *testing.T) {
	c, fake, out := newConsole()
	fake.OnEval = func(cell session.Cell) session.Reply {
		cell.Output(session.Output{Ranks: []int{0, 1, 2, 3}, Stream: session.Stdout, Text: "hello"})
		return session.Reply{
			Values: []session.Value{{Ranks: []int{0}, Text: "1"}, {Ranks: []int{1, 2, 3}, Text: "2"}},
			Errors: []*session.Error{{Ranks: []int{2}, File: "cell[1]", Line: 1, Column: 3, Msg: "wrong", Source: "a b"}},
		}
	}
	if got := c.Run(context.Background(), "x"); got != console.Failed {
		t.Errorf("outcome %v", got)
	}
	want := "[0-3] hello\n[0] 1\n[1-3] 2\n[2] cell[1]:1:3: wrong\n[2]     a b\n[2]       ^\n"
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", out, want)
	}
}
