package replay

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/interp/recorded"
	"github.com/symmrepl/symmrepl/session"
)

// history makes cells with the numbers from 1 on.
func history(sources ...string) (cells []session.Cell) {
	for i, source := range sources {
		cells = append(cells, session.Cell{ID: i + 1, Source: source})
	}
	return cells
}

// numbers returns the numbers of the cells that code needs.
func (n *Needs) numbers() (list []int) {
	cells, _ := n.Replay()
	for _, c := range cells {
		list = append(list, c.ID)
	}
	return list
}

// names returns the variables that code can come to.
func (n *Needs) names() (list []string) {
	for _, v := range n.sent {
		list = append(list, v.name)
	}
	return list
}

// Code needs the cells that declare or assign what it uses and what these cells use, and nothing else.
func TestCells(t *testing.T) {
	for name, c := range map[string]struct {
		cells []string
		code  string
		want  []int
		sent  []string
	}{
		"a tensor": {[]string{"n := 4", "x := symm.Local(symm.F32, n)", "y := symm.Local(symm.F32, n)"},
			"x.Fill(1)", []int{1, 2}, []string{"x"}},
		"a value that later cells change": {[]string{"n := 4", "x := symm.Local(symm.F32, 4)", "n++", "n += 2; fmt.Println(n)"},
			"x.Fill(n)", []int{1, 2, 3, 4}, []string{"n", "x"}},
		"a function": {[]string{"var n int", "func inc() { n++ }", "func other() {}", "inc()"}, "inc()", []int{1, 2, 4}, []string{"n"}},
		"a function that was replaced": {[]string{"func f() int { return 1 }", "func g() int { return f() }",
			"func f() int { return 2 }"}, "g()", []int{1, 2, 3}, nil},
		"methods": {[]string{"type T struct{ n int }", "func (t *T) Add(k int) { t.n += k }", "v := &T{}",
			"v.Add(2)", "w := 1"}, "fmt.Println(v.n)", []int{1, 2, 3, 4}, []string{"v"}},
		"a handle": {[]string{"x := symm.Empty(symm.F32, 4)", "h := symm.Rendezvous(x)"}, "h.Barrier(0)", []int{1, 2}, []string{"x", "h"}},
		"memory of another rank": {[]string{"x := symm.Empty(symm.F32, 4)", "h := symm.Rendezvous(x)",
			"p := h.GetRemoteTensor(0)"}, "p.Fill(1)", []int{1, 2, 3}, []string{"x", "h", "p"}},
		"a closure":                   {[]string{"n := 1", "f := func() int { return n }"}, "f()", []int{1, 2}, []string{"n", "f"}},
		"a variable that is replaced": {[]string{"x := symm.Local(symm.F32, 4)", "x := symm.Local(symm.F32, 8)"}, "x.Fill(1)", []int{1, 2}, []string{"x"}},
		"a generic function": {[]string{"n := 2", "func twice[T int | float32](x T) T { return T(n) * x }"},
			"fmt.Println(twice(3))", []int{1, 2}, []string{"n"}},
		"names of its own":      {[]string{"n := 1"}, "n := 2; fmt.Println(n)", nil, nil},
		"nothing":               {[]string{"n := 1"}, "fmt.Println(3)", nil, nil},
		"a constant and a type": {[]string{"const k = 3", "type row [k]float32", "type other int"}, "var r row; fmt.Println(r)", []int{1, 2}, nil},
	} {
		n, err := Of(history(c.cells...), c.code)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := n.numbers(); !slices.Equal(got, c.want) {
			t.Errorf("%s needs the cells %v, want %v", name, got, c.want)
		}
		if got := n.names(); !slices.Equal(got, c.sent) {
			t.Errorf("%s is sent %q, want %q", name, got, c.sent)
		}
	}
}

// Code whose results cannot be the same in two sessions is refused by name.
func TestRefused(t *testing.T) {
	failed := history("x := symm.Local(symm.F32, 4); panic(1)")
	failed[0].Failed = "panic: 1"
	for _, c := range []struct {
		cells      []session.Cell
		code, want string
		cell       int
	}{
		{nil, "fmt.Println(time.Now())", "time.Now ", 0},
		{nil, "time.Sleep(time.Millisecond)", "", 0},
		{nil, "fmt.Scanln()", "fmt.Scanln ", 0},
		{history("import \"os\"", "func home() string { return os.Getenv(\"HOME\") }"), "fmt.Println(home())", "os.Getenv ", 2},
		{history("import \"os\"", "home := os.Getenv(\"HOME\")"), "fmt.Println(home)", "os.Getenv ", 2},
		{history("import \"math/rand\"", "n := 1"), "n = rand.Int()", "rand.Int ", 0},
		{history("import \"math/rand\""), "r := rand.New(rand.NewSource(1)); fmt.Println(r.Int())", "", 0},
		{history("import \"math/rand\"", "r := rand.New(rand.NewSource(1))"), "fmt.Println(r.Int())", "variable r of type *rand.Rand ", 0},
		{history("ch := make(chan int, 1)"), "ch <- 1", "variable ch of type chan int ", 0},
		{history("type s struct { c []chan int }", "v := s{}"), "fmt.Println(len(v.c))", "variable v of type s ", 0},
		{history("var e any = 1"), "fmt.Println(e)", "variable e of type any ", 0},
		{history("m := map[string]*symm.Tensor{}"), "fmt.Println(len(m))", "the values in its map ", 0},
		{history("m := map[string]int{}", "m[\"a\"] = 1"), "m[\"b\"]++", "", 0},
		{history("type l struct { v int; next *l }", "v := &l{}"), "v.v++", "a type that holds itself", 0},
		{history("func mk() func() int { i := 0; return func() int { i++; return i } }", "f := mk()"), "f()", "the variables that its function has captured", 0},
		{history("var f func() int", "{ i := 0; f = func() int { i++; return i } }"), "f()", "the variables that its function has captured", 0},
		{history("f := func(x float64) float64 { y := x; return math.Sqrt(y) }"), "fmt.Println(f(2))", "", 0},
		{failed, "x.Fill(1)", "it failed: panic: 1", 1},
		{failed, "fmt.Println(1)", "", 0},
		{history("x := 1"), "y.Fill(1)", "undefined: y", 0},
		{[]session.Cell{{ID: 1, Source: "x := 1", Ended: true}}, "fmt.Println(x)", "undefined: x", 0},
		{[]session.Cell{{ID: 1, Source: "main()", Program: []string{"a.go"}}}, "fmt.Println(1)", "runs a program", 1},
	} {
		_, err := Of(c.cells, c.code)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.code, err)
		case c.want == "":
		case err == nil || !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %v, want %q", c.code, err, c.want)
		}
		if e, ok := errors.AsType[*recorded.Error](err); ok && e.Cell != c.cell {
			t.Errorf("%s: the error is of cell %d, want %d", c.code, e.Cell, c.cell)
		}
	}
}

// A cell for some ranks is replayed on those, and all changes of the folder are.
func TestRanks(t *testing.T) {
	cells := history("n := 1", "", "if symm.Rank() == 1 { n = 2 }", "m := 1")
	cells[1].Folder, cells[2].Ranks = "/tmp", []int{1}
	n, err := Of(cells, "fmt.Println(n)")
	if err != nil {
		t.Fatal(err)
	}
	list, stale := n.Replay()
	if got := fmt.Sprint(n.numbers(), list[1].Folder, list[2].Ranks, stale); got != "[1 2 3]/tmp[1] false" {
		t.Errorf("it replays %s", got)
	}
}

// The cells that move values check where they will run, whatever the variables hold.
func TestMoving(t *testing.T) {
	cells := history("type layer struct { w, b *symm.Tensor; name string; rate [2]float32 }",
		"type model struct { layers []layer; best *layer; steps map[string]int; f int }",
		"m := &model{}", "x := symm.Empty(symm.F32, 4)", "h := symm.Rendezvous(x)", "list := [2][]*symm.Tensor{}", "s := map[string]float64{}",
		"k := symm.Compile(`__global__ void f() {}`)", "symm := 1", "fmt := 2", "json := 3")
	n, err := Of(cells, "fmt += len(m.layers) + len(list) + len(s); _, _ = h, k; m = nil")
	if err != nil {
		t.Fatal(err)
	}
	if _, stale := n.Replay(); !stale {
		t.Error("code that assigns a pointer leaves a session as it was")
	}
	for what, cell := range map[string]session.Cell{"Save": n.Save("/tmp/a-"), "Load": n.Load("/tmp/a-"), "Run": n.Run("/tmp/a-")} {
		cell.ID = 20
		if _, err := Of(append(cells, cell), ""); err != nil {
			t.Errorf("%s: %v\n%s", what, err, cell.Source)
		}
		if _, err := Of(append(cells, cell), "replaySymm.Rank()"); err == nil {
			t.Errorf("code after %s can use its packages", what)
		}
	}
	for _, want := range []string{`seeTensor("m"+".layers"+replayFmt.Sprintf("[%d]", replayAt1)+".w", (*m).layers[replayAt1].w)`, `"m"+".steps", &(*m).steps)`,
		`seeFixed("m"+".best"+" == nil", (*m).best == nil)`, `seeHandle("the memory of "+"h", h)`,
		`seeTensor("list"+replayFmt.Sprintf("[%d]", replayAt0)+replayFmt.Sprintf("[%d]", replayAt1), list[replayAt0][replayAt1])`} {
		if !strings.Contains(n.Save("/tmp/a-").Source, want) {
			t.Errorf("there is no %s in\n%s", want, n.Save("/tmp/a-").Source)
		}
	}
}
