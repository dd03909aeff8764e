package interp

import (
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// Cells that call nothing and wait for nothing are brief. Their errors are those of other cells.
func TestBrief(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, `type T int
func (t T) String() string { return "T" }
func f() int { return 1 }
var p *[]int
var c = make(chan int, 1)
a, i, x := []int{1, 2, 3}, 3, 4`)
	for _, c := range []struct {
		src   string
		brief bool
	}{
		{"y := 1", true},
		{"x + 1", true},
		{"x = x * 2; x++", true},
		{"const k = 2", true},
		{"func g() { for {} }", true},
		{"type U struct{ n int }", true},
		{"h := func() { for { } }", true},
		{"if x > 1 { x = int(float64(x)) }", true},
		{"b := append(make([]int, 2), len(a)); b[0]", true},
		{"m := map[string]int{\"a\": 1}; delete(m, \"a\")", true},
		{"d := []float32{1, 2}", true},
		{"(*p)[0]", true},
		{"a[i]", true},
		{"f()", false},
		{"z := f()", false},
		{"func() {}()", false},
		{"T(1)", false}, // its method describes it
		{"a", false},
		{"<-c", false},
		{"c <- 1", false},
		{"for range 3 { x++ }", false},
		{"for x < 3 { x++ }", false},
		{"go f()", false},
		{"defer f()", false},
		{"again: if x < 0 { goto again }", false},
		{"select {}", false},
		{"println(1)", false},
		{"panic(1)", false},
		{"import \"time\"; time.Second", false},
	} {
		in.mu.Lock()
		out, err := in.prepare(session.Cell{ID: 1, Source: c.src})
		in.mu.Unlock()
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
		} else if out.brief != c.brief {
			t.Errorf("%s: brief is %v", c.src, out.brief)
		}
	}
	for src, want := range map[string]string{"a[i]": "runtime error: index out of range [3] with length 3",
		"(*p)[0]": "runtime error: invalid memory address or nil pointer dereference"} {
		r := evaluate(in, session.Cell{ID: 2, Source: src})
		if r.Err == nil || r.Err.Kind != session.KindPanic || !strings.HasSuffix(r.Err.Msg, want) || r.Err.Line != 1 {
			t.Errorf("%s: %+v", src, r.Err)
		}
	}
}
