package interp

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/symmrepl/symmrepl/session"
)

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// settle collects garbage until at most most bytes are in use, and returns how many are in use at
// the end. Freeing functions takes several steps: a collection finds that they are gone, a
// goroutine notes that, and a cell and another collection follow.
func settle(t *testing.T, in *Interp, most uint64) uint64 {
	t.Helper()
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		mustEval(t, in, "0")
		if used := heap(); used <= most || time.Since(start) > 10*time.Second {
			return used
		}
	}
}

// Nothing in the process refers to a session that is closed, not even the types that it made for
// compiled code, which package reflect keeps.
func TestClosedSessionIsFreed(t *testing.T) {
	var sessions []weak.Pointer[Interp]
	for _, cell := range []string{
		"1 + 1",
		"type P struct{ x, y int }\nfunc (p P) String() string { return \"P\" }\nfmt.Println(P{1, 2}, []P{{3, 4}})",
		"type V interface{ Visit() int }\ntype N struct{ n int }\nfunc (n N) Visit() int { return n.n }\n" +
			"type B struct{ v V }\nvar a, b any = B{N{1}}, [2]B{}\nfmt.Println(a == any(B{N{1}}), b, []V{N{2}})",
	} {
		in, err := New(Options{})
		if err != nil {
			t.Fatal(err)
		}
		mustEval(t, in, cell)
		in.Close()
		sessions = append(sessions, weak.Make(in))
	}
	for i, session := range sessions {
		for start := time.Now(); session.Value() != nil; runtime.GC() {
			if time.Since(start) > patient() {
				t.Fatalf("session %d is still referred to", i)
			}
		}
	}
}

// manyCells has cells of kinds that a session may run thousands of times. %d is the number of the
// cell.
var manyCells = []string{
	"x := %d",
	"v := 1",
	"v := \"a%d\"",
	"func f(a int) int { return a + %d }",
	"func g(a int) int { return f(a) }\ng(%d)",
	"func g(a string) string { return a }\ng(\"%d\")",
	"func (p P) Get() int { return p.A + %d }\nP{1}.Get()",
	"get := func() int { return x + %d }\nget()",
	"func() func() int { n := %d; return func() int { n++; return n } }()()",
	"const k = %d\nk + 1",
	"s := 0\nfor i := range 3 { s += f(i) }\ns",
	"m := map[string]int{\"a\": x}\nm[\"a\"]",
	"z := struct{ A, B int }{1, %d}\nz",
	"ch := make(chan int)\ngo func() { ch <- %d }()\n<-ch",
	"func() { defer func() { recover() }(); panic(%d) }()",
	"var a any = P{%d}\n_, ok := a.(P)\nok",
	"var it fmt.Stringer = P{%d}\nit.String()",
	"fmt.Sprint(P{%d}, &P{2})",
	"import \"strconv\"\nstrconv.Itoa(%d)",
	"import \"sort\"\nsort.Slice([]int{2, 1}, func(i, j int) bool { return i < j })",
	"twice(%d)",
	"var wrong string = %d",
	"unknown(%d)",
	"syntax := (%d",
	"panic(%d)",
	"[]int{}[%d]",
}

// TestManyCells checks that cells leave nothing behind except their definitions, whether they
// succeed, fail or are interrupted.
func TestManyCells(t *testing.T) {
	if !inOwnProcess(t) {
		return
	}
	in := open(t, Options{})
	mustEval(t, in, "type P struct{ A int }\nfunc (p P) String() string { return \"p\" }\nfunc twice[T any](v T) []T { return []T{v, v} }\nx := 0\nfunc f(a int) int { return a }")
	cells := func(from, to int) {
		for i := from; i < to; i++ {
			src := manyCells[i%len(manyCells)]
			if strings.Contains(src, "%d") {
				src = fmt.Sprintf(src, i)
			}
			evaluate(in, session.Cell{ID: i, Source: src})
			if i%400 == 0 {
				interrupt(t, in, "go func() { for { x++ } }()\nselect { }")
			}
		}
	}
	cells(0, 1000)
	first := heap()
	cells(1000, 10000)
	if last := settle(t, in, first+first/10); last > first+first/10 {
		t.Errorf("the heap grew from %d to %d bytes over 9000 cells", first, last)
	}
	if got := mustEval(t, in, "P{1}.Get() > 1"); got != "true" {
		t.Errorf("the last method is not in use: %s", got)
	}
}

// allocated returns the number of bytes that are allocated while f runs.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestManyVariables checks that a cell takes as long in a session with thousands of variables as in
// one with a few, and how much memory a variable takes.
func TestManyVariables(t *testing.T) {
	if !inOwnProcess(t) {
		return
	}
	const most = 2 << 10
	in := open(t, Options{})
	variables := func(from, to int) {
		for i := from; i < to; i++ {
			mustEval(t, in, fmt.Sprintf("v%d := %d", i, i))
		}
	}
	variables(0, 100)
	few := allocated(func() { variables(100, 300) })
	first := heap()
	variables(300, 3000)
	many := allocated(func() { variables(3000, 3200) })
	if last := settle(t, in, first+2900*most); last > first+2900*most {
		t.Errorf("a variable takes %d bytes", (last-first)/2900)
	}
	if many > 2*few {
		t.Errorf("200 cells allocate %d bytes after 3000, and %d at first", many, few)
	}
	if got := mustEval(t, in, "v7 + v3199"); got != "3206" {
		t.Errorf("v7 + v3199 is %s", got)
	}
}

// TestManyTypes checks that a type that is defined again is freed when nothing uses it any more,
// except for what package reflect keeps.
func TestManyTypes(t *testing.T) {
	if !inOwnProcess(t) {
		return
	}
	in := open(t, Options{})
	const most, n = 6 << 10, 300
	cells := func(n int) {
		for i := range n {
			mustEval(t, in, fmt.Sprintf("type T struct{ A int }\nfunc (t T) Get() int { return t.A }\nfunc (t *T) Set(v int) { t.A = v }\nv := T{%d}\nv.Get()", i))
		}
	}
	cells(10)
	first := heap()
	cells(n)
	if last := settle(t, in, first+n*most); last > first+n*most {
		t.Errorf("a type that is defined again leaves %d bytes", (last-first)/n)
	}
}

// TestUnnamedTypes checks that code and values of a type keep working after the type's name was
// defined again, often enough that unused types are freed.
func TestUnnamedTypes(t *testing.T) {
	if !inOwnProcess(t) {
		return
	}
	in := open(t, Options{})
	for _, src := range []string{
		"type Getter interface{ Get() int }\ntype Setter interface{ Set(int) }",
		"type T struct{ A int }\nfunc (t T) Get() int { return t.A + 1000 }\nfunc (t *T) Set(v int) { t.A = v }\nfunc (t T) String() string { return fmt.Sprint(\"T of \", t.A) }",
		"make := func(n int) any { return T{n} }\nget := func(n int) int { t := &T{n}; t.Set(n + 1); return t.Get() }\nis := func(x any) bool { _, ok := x.(T); return ok }",
		"type T struct{ B int }\nfunc (t T) Get() int { return t.B + 2000 }\nvar g Getter = T{5}",
		"type T struct{ C int }\nfunc (t *T) Get() int { return t.C + 3000 }\nv := []*T{{6}}\nfunc use(t *T) int { return t.Get() }",
		"type T struct{ D int }\nfunc (t T) Get() int { return t.D + 4000 }\nvar a any = T{7}",
	} {
		mustEval(t, in, src)
	}
	for range 2 {
		for i := range 100 {
			mustEval(t, in, fmt.Sprintf("type T struct{ E int }\nfunc (t T) Get() int { return %d }\nx := T{}\nx.Get()", i))
		}
		for range 5 {
			heap()
			time.Sleep(5 * time.Millisecond) // cleanups run after a collection
			mustEval(t, in, "0")
		}
		for _, c := range [][2]string{
			{"fmt.Sprint(make(4))", `"T of 4"`},
			{"get(1)", "1002"},
			{"is(make(1)), is(x), is(a)", "true, false, false"},
			{"g.Get(), g.(Getter).Get()", "2005, 2005"},
			{"_, ok := g.(Setter)\nok", "false"},
			{"use(v[0]), v", "3006, []*T{&T{C: 6}}"},
			{"a.(Getter).Get(), a", "4007, T{D: 7}"},
			{"g", "T{B: 5}"},
			{"x.Get()", "99"},
		} {
			if got := mustEval(t, in, c[0]); got != c[1] {
				t.Errorf("%s is %s, want %s", c[0], got, c[1])
			}
		}
	}
}

// TestRedefinitionFrees checks that unreferenced definitions are freed, whatever replaced them.
func TestRedefinitionFrees(t *testing.T) {
	if !inOwnProcess(t) {
		return
	}
	const big = "make([]byte, 64<<20)"
	for _, c := range []struct{ hold, drop string }{
		{"x := " + big, "x := []byte{1}"},
		{"x := " + big, "x := 5"},
		{"x := " + big, "x = nil"},
		{"x := " + big, "func x() {}"},
		{"x := " + big, "const x = 1"},
		{"x := " + big, "type x int"},
		{"x := " + big, "import x \"sort\"\nx.Ints(nil)"},
		{"x := map[string][]byte{\"a\": " + big + "}", "delete(x, \"a\")"},
		{"x := map[string][]byte{\"a\": " + big + "}", "x := map[string][]byte{}"},
		{"x := [][]byte{" + big + "}", "x[0] = nil"},
		{"x := struct{ b []byte }{" + big + "}", "x := 1"},
		{"var x any = " + big, "x = 1"},
		{"p := new([64 << 20]byte)\nx := p[:]", "p, x := 1, 2"},
		{"x := func() func() byte { b := " + big + "; return func() byte { return b[0] } }()", "x = nil"},
		{"x := func() func() byte { b := " + big + "; return func() byte { return b[0] } }()", "x := 1"},
		{"y := " + big + "\nx := func() int { return len(y) }", "y = nil"},
		{"x := " + big + "\ngo func() { for range x { time.Sleep(time.Hour) } }()", "x := 1\ninterrupt.Here()\nfor { }"},
		{"x := make(chan []byte, 1)\nx <- " + big, "<-x\nx := 1"},
		{"x := " + big + "\npanic(1)", "x := 1"},
		{"x := " + big + "\ninterrupt.Here()\nfor { }", "x := 1"},
		{"type T struct{ b []byte }\nx := T{" + big + "}", "type T struct{ c int }\nx := T{}"},
		{"type T struct{ b []byte }\nvar x any = &T{" + big + "}", "x = nil"},
	} {
		t.Run(c.hold+", then "+c.drop, func(t *testing.T) {
			in, interrupted := openInterruptible(t)
			eval := func(src string) {
				if strings.Contains(src, "interrupt.Here()") {
					interrupted(src, time.Second)
				} else if e := evaluate(in, session.Cell{ID: 1, Source: src}).Err; e != nil && e.Msg != "panic: 1" {
					t.Fatalf("%s: %v", src, e)
				}
			}
			before := heap()
			eval(c.hold)
			eval("0")
			if held := heap(); held < before+60<<20 {
				t.Fatalf("64 MB in use as %d bytes", held-before)
			}
			eval(c.drop)
			if after := settle(t, in, before+4<<20); after > before+4<<20 {
				t.Errorf("%d bytes more are in use than before", after-before)
			}
		})
	}
}

// TestVariableOfFunctions checks that a variable whose name was defined again stays as long as a
// function uses it, also if it was declared together with a generic function.
func TestVariableOfFunctions(t *testing.T) {
	for _, beside := range []string{"", "func same[T any](v T) T { return v }\n"} {
		in := open(t, Options{})
		mustEval(t, in, beside+"var x = 5\nfunc f() int { return x }")
		mustEval(t, in, "x := \"other\"")
		mustEval(t, in, "y := 7")
		if got := mustEval(t, in, "f()"); got != "5" {
			t.Errorf("after %q a function gets %s of a variable that was 5", beside, got)
		}
	}
}
