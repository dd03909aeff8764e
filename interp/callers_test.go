package interp

import (
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// TestEarlierCallers checks that a cell that changes a function's signature lists the callers that
// go on calling the old function, and that other cells do not.
func TestEarlierCallers(t *testing.T) {
	const earlier = "note: g (cell[2]), h (cell[2]) still call the earlier f(a int) int; define it again to change that\n"
	for _, c := range []struct{ again, note string }{
		{"func f(a string) string { return a }", earlier},
		{"func f(a int) int { return -a }", ""},
		{"func f(a int) int { return -a }\nfunc k(a int) int { return f(a) }", ""},
		{"f := 5", earlier},
		{"func g(a int) string { return \"\" }", ""},
		{"func g(a int) int { return 0 }\nfunc f() {}", strings.NewReplacer("g (cell[2]), ", "", "call ", "calls ").Replace(earlier)},
		{"h = nil\nfunc f() {}", "note: g (cell[2]) still calls the earlier f(a int) int; define it again to change that\n"},
	} {
		t.Run(c.again, func(t *testing.T) {
			in := open(t, Options{})
			text := written(t)
			for i, src := range []string{"func f(a int) int { return a }", "func g(a int) int { return f(a) }\nh := func() int { return f(1) }", c.again} {
				if r := evaluate(in, session.Cell{ID: i + 1, Source: src}); r.Err != nil {
					t.Fatal(r.Err)
				}
			}
			if said := text(); said != c.note {
				t.Errorf("%q says %q, want %q", c.again, said, c.note)
			}
		})
	}
	in, text := open(t, Options{}), written(t)
	mustEval(t, in, "func f() int { return 1 }\ntype T struct{}\nfunc (T) M() int { return f() }")
	mustEval(t, in, "func f() string { return \"2\" }")
	if said, want := text(), "note: T.M (cell[1]) still calls the earlier f() int; define it again to change that\n"; said != want {
		t.Errorf("for a method it says %q, want %q", said, want)
	}
	if got := mustEval(t, in, "T{}.M(), f()"); got != "1, \"2\"" {
		t.Errorf("T.M and f return %s", got)
	}
}
