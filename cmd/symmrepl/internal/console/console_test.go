package console

import (
	"context"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

func TestCells(t *testing.T) {
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
		{":on 0,2 fmt.Println(1)", "fmt.Println(1)", []int{0, 2}, 0},
		{"%on [1] x = 2", "x = 2", []int{1}, 0},
		{":time x = 2", "x = 2", nil, 0},
	} {
		c, fake, out := newConsole()
		if got := c.Run(context.Background(), test.entry); got != Done {
			t.Errorf("%q: outcome %v: %s", test.entry, got, out)
			continue
		}
		cell := fake.cells[0]
		if cell.Source != test.source || !reflect.DeepEqual(cell.Ranks, test.ranks) || cell.Line != test.line {
			t.Errorf("%q: cell %q on %v, line %d", test.entry, cell.Source, cell.Ranks, cell.Line)
		}
	}
}

func TestOnIsSticky(t *testing.T) {
	c, fake, out := newConsole()
	for _, entry := range []string{":on 0,2", "x", ":on 1 y", "z", ":on", ":on all", "w", ":on"} {
		c.Run(context.Background(), entry)
	}
	var got [][]int
	for _, cell := range fake.cells {
		got = append(got, cell.Ranks)
	}
	if want := [][]int{{0, 2}, {1}, {0, 2}, nil}; !reflect.DeepEqual(got, want) {
		t.Errorf("cells ran on %v, want %v", got, want)
	}
	if want := "cells run on ranks 0,2\ncells run on all ranks\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out, want)
	}
}

func TestRefusals(t *testing.T) {
	for entry, want := range map[string]string{
		":nosuch":           `no command is called "nosuch"; :help lists them`,
		":restrat":          `no command is called "restrat"; did you mean :restart? :help lists them`,
		":h":                `"h" may be any of :history :hint :help`,
		":":                 `no command is called ""; :help lists them`,
		":type":             ":type needs EXPRESSION; :help type says more",
		":ranks 3":          `:ranks takes nothing, but was given "3"`,
		":on 7":             ":on: ",
		":on x y":           ":on: ",
		":history ten":      `:history: a number of cells is expected, not "ten"`,
		":history 0":        `:history: a number of cells is expected, not "0"`,
		"%%cell\nx":         "%%cell is unknown: the only cell magic is %%rank [0,2]",
		"%%rank [9]\nx":     "%%rank: ",
		"%%rank [0]":        "%%rank [0]: the cell's code is expected on the lines below",
		"$":                 "$: a shell command is expected, such as $ nvidia-smi",
		"$ exit 3":          "$: exit status 3",
		":restart 9":        ":restart: ",
		":help nosuch":      `:help: no command is called "nosuch"`,
		":restart replay 1": ":restart: ",
	} {
		c, fake, out := newConsole()
		if got := c.Run(context.Background(), entry); got != Failed {
			t.Errorf("%q: outcome %v", entry, got)
		}
		if !strings.HasPrefix(out.String(), want) {
			t.Errorf("%q: printed %q, want %q", entry, out, want)
		}
		if len(fake.cells)+len(fake.restarted) > 0 {
			t.Errorf("%q reached the session", entry)
		}
	}
}

func TestShell(t *testing.T) {
	c, _, out := newConsole()
	if got := c.Run(context.Background(), "$ printf 'a\\nb'; echo c >&2"); got != Done {
		t.Errorf("outcome %v", got)
	}
	if got := strings.Fields(out.String()); len(got) != 3 {
		t.Errorf("printed %q", out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got := c.Run(ctx, "$ sleep 60"); got != Failed {
		t.Errorf("an interrupted shell line: outcome %v", got)
	}
}

func TestReplies(t *testing.T) {
	c, fake, out := newConsole()
	fake.eval = func(cell session.Cell) session.Reply {
		cell.Output(session.Output{Ranks: []int{0, 1, 2, 3}, Stream: session.Stdout, Text: "hello"})
		return session.Reply{
			Values: []session.Value{{Ranks: []int{0}, Text: "1"}, {Ranks: []int{1, 2, 3}, Text: "2"}},
			Errors: []*session.Error{{Ranks: []int{2}, File: "cell[1]", Line: 1, Column: 3, Msg: "wrong", Source: "a b"}},
		}
	}
	if got := c.Run(context.Background(), "x"); got != Failed {
		t.Errorf("outcome %v", got)
	}
	want := "[0-3] hello\n[0] 1\n[1-3] 2\n[2] cell[1]:1:3: wrong\n[2]     a b\n[2]       ^\n"
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", out, want)
	}
}

func TestTime(t *testing.T) {
	c, fake, out := newConsole()
	fake.eval = func(session.Cell) session.Reply { return session.Reply{Elapsed: 0.00125} }
	c.Run(context.Background(), ":time x")
	if got, want := out.String(), "elapsed 1.25 ms\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	for seconds, want := range map[float64]string{3e-5: "30.0 µs", 1.5: "1.50 s", 90: "1m30s"} {
		if got := formatSeconds(seconds); got != want {
			t.Errorf("%v s: %q, want %q", seconds, got, want)
		}
	}
}

func TestVars(t *testing.T) {
	c, fake, out := newConsole()
	fake.inspect = func([]int, session.Query) []session.Answer {
		v := func(name, typ string, size int64, value string) session.Variable {
			return session.Variable{Name: name, Type: typ, Size: size, Value: value}
		}
		x := v("x", "int", 8, "1")
		return []session.Answer{
			{Rank: 0, Variables: []session.Variable{x, v("rank", "int", 8, "0")}},
			{Rank: 1, Variables: []session.Variable{x, v("rank", "int", 8, "1")}},
			{Rank: 2, Variables: []session.Variable{x, v("rank", "int", 8, "1"), v("only", "string", 2048, `"a b"`)}},
			{Rank: 3, Variables: []session.Variable{x, v("rank", "int", 8, "0")}},
		}
	}
	c.Run(context.Background(), ":vars")
	want := `ranks  name  type    size     value
0-3    x     int     8 B      1
0,3    rank  int     8 B      0
1,2    rank  int     8 B      1
2      only  string  2.0 KiB  "a b"
`
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", out, want)
	}
}

func TestInspectFolds(t *testing.T) {
	c, fake, out := newConsole()
	fake.inspect = func(ranks []int, q session.Query) []session.Answer {
		if !reflect.DeepEqual(ranks, []int{0, 1, 2}) || q != (session.Query{Topic: session.TopicType, Arg: "x + y"}) {
			t.Errorf("asked %v %+v", ranks, q)
		}
		return []session.Answer{
			{Rank: 0, Text: "int"}, {Rank: 1, Err: &session.Error{Kind: session.KindType, Msg: "undefined: x"}}, {Rank: 2, Text: "int"},
		}
	}
	c.Run(context.Background(), ":on 0-2")
	if got := c.Run(context.Background(), ":type x + y"); got != Failed {
		t.Errorf("outcome %v", got)
	}
	if want := "[0,2] int\n[1] undefined: x\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out, want)
	}
}

// TestDoc holds that commands are documented here and everything else by the ranks.
func TestDoc(t *testing.T) {
	c, fake, out := newConsole()
	fake.inspect = func(_ []int, q session.Query) []session.Answer {
		return []session.Answer{{Rank: 0, Text: string(q.Topic) + " of " + q.Arg}}
	}
	c.Run(context.Background(), ":doc strings.Cut")
	if want := "[0] doc of strings.Cut\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out, want)
	}
	out.Reset()
	c.Run(context.Background(), ":doc :on")
	if !strings.HasPrefix(out.String(), ":on [RANKS [CODE]]  choose the ranks") {
		t.Errorf("printed %q", out)
	}
}

func TestRankTable(t *testing.T) {
	c, fake, out := newConsole()
	fake.infos = []session.RankInfo{
		{Rank: 0, Host: "a", PID: 10, Device: "cpu:0", Incarnation: 1, State: "idle", RSS: 100},
		{Rank: 1, Host: "a", PID: 11, Device: "cpu:1", Incarnation: 2, State: "waiting", Doing: "wait_signal", RSS: 3 << 19},
	}
	c.Run(context.Background(), ":ranks")
	want := `rank  host  pid  start  memory   state    device
0     a     10   1      100 B    idle     cpu:0
1     a     11   2      1.5 MiB  waiting  cpu:1   wait_signal
`
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", out, want)
	}
}

func TestRestart(t *testing.T) {
	c, fake, _ := newConsole()
	for _, entry := range []string{":restart", ":restart 2", ":restart replay", ":restart 0,1 replay"} {
		if c.Run(context.Background(), entry) != Done {
			t.Errorf("%s failed", entry)
		}
	}
	if want := [][]int{nil, {2}, nil, {0, 1}}; !reflect.DeepEqual(fake.restarted, want) {
		t.Errorf("restarted %v, want %v", fake.restarted, want)
	}
	if want := []bool{false, false, true, true}; !reflect.DeepEqual(fake.replayed, want) {
		t.Errorf("replayed %v, want %v", fake.replayed, want)
	}
}

func TestHistory(t *testing.T) {
	c, _, out := newConsole()
	for _, entry := range []string{"x := 1", "%%rank [1,2]\nif x {\n}", ":history"} {
		c.Run(context.Background(), entry)
	}
	want := "cell[1] x := 1\ncell[2] on 1,2 if x {\n               }\n"
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", out, want)
	}
	out.Reset()
	c.Run(context.Background(), ":history 1")
	if !strings.HasPrefix(out.String(), "cell[2]") {
		t.Errorf(":history 1 printed %q", out)
	}
}

func TestQuit(t *testing.T) {
	c, _, _ := newConsole()
	for _, entry := range []string{":quit", "%quit", ":q"} {
		if got := c.Run(context.Background(), entry); got != Quit {
			t.Errorf("%s: outcome %v", entry, got)
		}
	}
}

func TestHelpShowsEveryCommand(t *testing.T) {
	c, _, out := newConsole()
	c.Run(context.Background(), ":help")
	for _, cmd := range Commands() {
		if !strings.Contains(out.String(), cmd.usage()) || !strings.Contains(out.String(), cmd.summary()) {
			t.Errorf(":help does not show :%s", cmd.Name)
		}
	}
	out.Reset()
	c.Run(context.Background(), ":help :on")
	if !strings.HasPrefix(out.String(), ":on [RANKS [CODE]]  choose the ranks") {
		t.Errorf(":help :on printed %q", out)
	}
}

func TestCommandsPage(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != Page() {
		t.Error("docs/commands.md is stale; renew it by: go generate ./cmd/symmrepl/internal/console")
	}
}

func TestAssembler(t *testing.T) {
	for _, test := range []struct {
		lines string
		force bool
		want  []string
	}{
		{"x\ny", true, []string{"x", "y"}},
		{"\n\nx\n", true, []string{"x"}},
		{"func f() {\n\tx\n}\ny", true, []string{"func f() {\n\tx\n}", "y"}},
		{"func f() {\n\ny", true, []string{"func f() {\n", "y"}},
		{"func f() {\n\n}", false, []string{"func f() {\n\n}"}},
		{"f({`\n\n`})\ny", true, []string{"f({`\n\n`})", "y"}},
		{"f({`a\n`,\n\ny", true, []string{"f({`a\n`,\n", "y"}},
		{"%%rank [0]\nx\ny", true, []string{"%%rank [0]\nx", "y"}},
		{"%%rank [0]\nif x {\n}", true, []string{"%%rank [0]\nif x {\n}"}},
		{":on 0,1 if x {\n}\ny", true, []string{":on 0,1 if x {\n}", "y"}},
		{":time if x {\n}", true, []string{":time if x {\n}"}},
		{":type {\n$ echo {", true, []string{":type {", "$ echo {"}},
	} {
		c, _, _ := newConsole()
		a := c.Assembler()
		var got []string
		for line := range strings.SplitSeq(test.lines, "\n") {
			if entry, complete := a.Add(line, test.force); complete {
				got = append(got, entry)
			}
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q: entries %q, want %q", test.lines, got, test.want)
		}
	}
}
