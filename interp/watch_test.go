package interp

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/interp/run/limits"
	"github.com/symmrepl/symmrepl/session"
)

func stackBytes() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// TestRecursion checks that endless recursion is an error that gives the place, that its memory is
// given back, and that the session goes on.
func TestRecursion(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, `import "sort"
func direct(n int) int { return 1 + direct(n-1) }
func even(n int) bool { return odd(n-1) }
func odd(n int) bool { return even(n-1) }
type T struct{ n int }
func (t T) Method(n int) int { return 1 + t.Method(n-1) }
type S struct{ n int }
func (s S) String() string { return fmt.Sprint(S{s.n-1}) }
func deferring(n int) { defer func() {}(); deferring(n-1) }
func deferred(n int) { defer func() { deferred(n-1) }() }
func sorting(n int) { sort.Slice([]int{1, 2}, func(i, j int) bool { sorting(n-1); return i < j }) }
var literal func(int) int
literal = func(n int) int { return 1 + literal(n-1) }
kept := 1
next := func() int { kept++; return kept }`)
	before := stackBytes()
	for i, c := range []struct {
		cell, function string
		line           int
	}{
		{"direct(1)", "direct", 2},
		{"even(1)", "even or odd", 0},
		{"T{}.Method(1)", "Method", 6},
		{"S{}.String()", "String", 8},
		{"S{}", "String", 8},
		{"fmt.Println(S{})", "String", 8},
		{"deferring(1)", "deferring", 9},
		{"deferred(1)", "deferred", 10},
		{"sorting(1)", "sorting", 11},
		{"literal(1)", "a function literal", 13},
		{"go direct(1)\nselect {}", "direct", 2},
	} {
		start := limits.ProcessorTime()
		e := evaluate(in, session.Cell{ID: 2, Source: c.cell}).Err
		if took := limits.ProcessorTime() - start; took > 5*time.Second {
			t.Errorf("%s took %v of processor time to end", c.cell, took)
		}
		if e == nil || e.Kind != session.KindPanic || e.File != "cell[1]" || c.line > 0 && e.Line != c.line {
			t.Fatalf("%s: got %#v", c.cell, e)
		}
		said := false
		for f := range strings.SplitSeq(c.function, " or ") {
			said = said || strings.HasPrefix(e.Msg, "stack overflow in "+f+": ")
		}
		if !said {
			t.Errorf("%s: got %q, want %s to be named", c.cell, e.Msg, c.function)
		}
		if got := mustEval(t, in, "next()"); got != fmt.Sprint(i+2) {
			t.Fatalf("after %s a closure returns %s, not %d", c.cell, got, i+2)
		}
	}
	for range 100 {
		// Go keeps some stacks for future goroutines, and frees those that are too large when they
		// are needed.
		var wg sync.WaitGroup
		for range 200 {
			wg.Go(func() { time.Sleep(time.Millisecond) })
		}
		wg.Wait()
		runtime.GC()
		if stackBytes() < before+limits.MaxStacks/4 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("stacks take %d bytes afterwards, %d before", stackBytes(), before)
}

// TestRecursionInTheBackground checks that a goroutine that outlived its cell is stopped too,
// whatever cells came since.
func TestRecursionInTheBackground(t *testing.T) {
	start := make(chan struct{})
	in := open(t, Options{Packages: testPackage(func() { <-start })})
	said := written(t)
	mustEval(t, in, "import \"test/blocking\"\nfunc f(n int) int { return 1 + f(n-1) }\ngo func() { blocking.Wait(); f(1) }()")
	mustEval(t, in, "0")
	close(start)
	for start := time.Now(); !strings.HasPrefix(said(), "cell[1]:2:32: stack overflow in f: "); time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > patient() {
			t.Fatalf("standard error is %q", said())
		}
	}
	if got := mustEval(t, in, "1 + 1"); got != "2" {
		t.Errorf("1 + 1 is %s", got)
	}
	if left := in.runtime.Running(); left > 0 {
		t.Errorf("%d goroutines of cells go on", left)
	}
}

// TestDeepRecursion checks that calls that end may be nested deep.
func TestDeepRecursion(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, "func f(n int) int { if n == 0 { return 0 }; return 1 + f(n-1) }\nvar g func(n int) int\ng = func(n int) int { if n == 0 { return 0 }; return 1 + g(n-1) }")
	for _, c := range []string{"f(95000)", "g(10000)"} {
		if got, want := mustEval(t, in, c), c[2:len(c)-1]; got != want {
			t.Errorf("%s is %s", c, got)
		}
	}
}

// TestOutOfMemory checks that a cell that takes all memory is stopped before memory runs out, and
// one that makes garbage is not.
func TestOutOfMemory(t *testing.T) {
	if !inOwnProcess(t) {
		return
	}
	t.Run("alone", testOutOfMemory)
	t.Run("beside values that take long to collect", func(t *testing.T) {
		values := make([]*[4]*int, 6<<20)
		for i := range values {
			values[i] = &[4]*int{new(int)}
		}
		testOutOfMemory(t)
		runtime.KeepAlive(values)
	})
}

func testOutOfMemory(t *testing.T) {
	in := open(t, Options{})
	const total = 1 << 30
	in.runtime.Limits.MeasureBy(func() (uint64, uint64) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return total - min(total, m.HeapAlloc), total
	})
	before := heap()
	mustEval(t, in, "func grow() { for { a = append(a, make([]byte, 8<<20)); time.Sleep(time.Millisecond) } }\nvar a [][]byte")
	e := evaluate(in, session.Cell{ID: 2, Source: "grow()"}).Err
	if e == nil || e.Kind != session.KindPanic || e.File != "cell[1]" || !strings.HasPrefix(e.Msg, "out of memory in grow: ") ||
		!strings.Contains(e.Msg, " of 1024 MB in all ") {
		t.Fatalf("got %#v", e)
	}
	mustEval(t, in, "a = nil")
	if after := heap(); after > before+16<<20 {
		t.Errorf("%d bytes are in use, %d before", after, before)
	}
	// Garbage is no reason to stop.
	mustEval(t, in, "for range 400 { b := make([]byte, 8<<20); b[0] = 1 }")
}
