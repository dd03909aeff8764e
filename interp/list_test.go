package interp

import (
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// TestList checks that a cell may end with a list of expressions.
func TestList(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, "type E struct{ N int }\nfunc (e E) Error() string { return fmt.Sprint(\"E\", e.N) }\nm := map[string]int{\"a\": 1}\nvar e any = 2")
	for src, want := range map[string]string{
		"v, ok := m[\"a\"]\nv, ok":                                "1, true",
		"s, ok := e.(string); s, ok":                              `"", false`,
		"m[\"a\"], len(m), m == nil // a comment":                 "1, 1, false",
		"len(m) /* a\ncomment */":                                 "1",
		"x := 1 /* of a\nvariable */\nx /* b */":                  "1",
		"E{1}, &E{2}, error(E{3})":                                "E1, E2, E3",
		"func(a, b int) int { return a }(1, 2), 'a'":              "1, 97",
		"[]int{1, 2}, map[int]bool{1: true},\n\t[2]string{\"x\"}": `[]int{1, 2}, map[int]bool{1: true}, [2]string{"x", ""}`,
	} {
		if got := mustEval(t, in, src); got != want {
			t.Errorf("%q shows %s, want %s", src, got, want)
		}
	}
	for src, want := range map[string]string{
		"1, nope": "cell[1]:1:4: undefined: nope (nope := … declares a variable)",
		"1, nil":  "cell[1]:1:4: use of untyped nil in assignment to _ identifier",
	} {
		r := evaluate(in, session.Cell{ID: 1, Source: src})
		if r.Err == nil || r.Err.Error() != want {
			t.Errorf("%q: %v, want %s", src, r.Err, want)
		}
	}
}
