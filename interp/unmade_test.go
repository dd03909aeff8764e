package interp

import (
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// TestUnmade checks that the use of a variable that a failed cell left nil says which cell failed, and why.
func TestUnmade(t *testing.T) {
	in := open(t, Options{ConvertError: func(err error) *session.Error { return &session.Error{Kind: session.KindMisuse, Msg: err.Error()} }})
	id := 0
	run := func(src string) *session.Error {
		id++
		return evaluate(in, session.Cell{ID: id, Source: src}).Err
	}
	for _, c := range []struct{ src, hint string }{
		{"import \"errors\"\nfail := func() *int { panic(errors.New(\"no memory\")) }\nuse := func(any) { panic(errors.New(\"Fill: the tensor is nil\")) }", ""},
		{"x := fail()", ""}, // cell 2
		{"*x = 1", "x is nil because cell[2] failed: no memory; correct and run that cell first"},
		{"use(x)", "x is nil because cell[2] failed: no memory; correct and run that cell first"},
		{"func later() { *x = 1 }", ""},
		{"later()", "x is nil because cell[2] failed: no memory; correct and run that cell first"},
		{"var y *int; use(y)", ""},
		{"use(y)", "y is nil because cell[7] failed: Fill: the tensor is nil; correct and run that cell first"},
		{"y = fail()", ""},
		{"use(y)", "y is nil because cell[9] failed: no memory; correct and run that cell first"},
		{"m, n := map[string]int(nil), fail()", ""},
		{"m[\"a\"] = 1", "m is nil because cell[11] failed: no memory; correct and run that cell first"},
		{"x = new(int)", ""},
		{"*x", ""},
		{"x = nil", ""},
		{"*x = 1", ""},
		{"f := func() { use(nil) }", ""},
		{"f()", ""},
	} {
		var hint string
		if e := run(c.src); e != nil {
			hint = e.Hint
		}
		if hint != c.hint {
			t.Errorf("%q: the hint %q, want %q", c.src, hint, c.hint)
		}
	}
}
