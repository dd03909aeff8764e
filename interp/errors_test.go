package interp

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/session"
)

// TestSeveralErrors checks that each error of a cell is reported once: the first in the message,
// the others in the detail.
func TestSeveralErrors(t *testing.T) {
	in := open(t, Options{})
	for _, c := range []struct{ src, msg, detail string }{
		{"a1", "undefined: a1", ""},
		{"x := a1\ny := a2\nz := a3", "undefined: a1", "cell[1]:2:6: undefined: a2\ncell[1]:3:6: undefined: a3"},
		{"x := )", "syntax error: unexpected )", ""},
	} {
		e := evaluate(in, session.Cell{ID: 1, Source: c.src}).Err
		if e == nil || e.Msg != c.msg || e.Detail != c.detail {
			t.Errorf("%q: got %v with %q, want %s with %q", c.src, e, e.Detail, c.msg, c.detail)
		}
	}
	e := evaluate(in, session.Cell{ID: 1, Source: "_ = []int{" + strings.Repeat("q,\n", 12) + "}"}).Err
	if lines := strings.Split(e.Detail, "\n"); len(lines) != check.MaxErrors || lines[check.MaxErrors-1] != "too many errors" {
		t.Errorf("the detail of 12 errors is %q", e.Detail)
	}
}

// TestWrong checks that the errors in the cells of testdata/wrong.txt are reported with the Go
// compiler's words and place, which follow each cell, and that such a cell changes nothing.
func TestWrong(t *testing.T) {
	text, err := os.ReadFile("testdata/wrong.txt")
	if err != nil {
		t.Fatal(err)
	}
	in := open(t, Options{})
	mustEval(t, in, "x, s, f, T := 1, []int{2}, \"f\", 3")
	vars := in.vars()
	for _, entry := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
		source, want, _ := strings.Cut(entry, "\n")
		e := evaluate(in, session.Cell{ID: 1, Source: source}).Err
		if e == nil {
			t.Errorf("%s\nruns, want %s", source, want)
			continue
		}
		e.Hint = "" // suggest_test.go holds those
		got := e.Error()
		if e.Detail != "" {
			got += "\n" + e.Detail
		}
		if got = strings.ReplaceAll(got, "cell[1]:", ""); got != want {
			t.Errorf("%s\nis refused with\n%s\nwant\n%s", source, got, want)
		}
		if got := in.vars(); !slices.Equal(got, vars) {
			t.Fatalf("after %s\nthe variables are\n%+v\nwant\n%+v", source, got, vars)
		}
	}
}

// TestPlacesInMessages checks that a place in the text of a message is a place in the cell.
func TestPlacesInMessages(t *testing.T) {
	in := open(t, Options{})
	for _, c := range []struct{ src, msg string }{
		{"type T struct{}; func (t T) M() {}; func (t T) M() {}", "method T.M already declared at cell[1]:1:29"},
		{"type T struct{}\nfunc (t T) M() {}\nfunc (t T) M() {}", "method T.M already declared at cell[1]:2:12"},
		{"func F[T any]() {}\nfunc g() { F() }", "in call to F, cannot infer T"},
	} {
		if e := evaluate(in, session.Cell{ID: 1, Source: c.src}).Err; e == nil || e.Msg != c.msg {
			t.Errorf("%q: got %v, want %s", c.src, e, c.msg)
		}
	}
}
