package interp

import (
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// TestSeveralErrors holds that each error of a cell is said once: the first in the message, the others in the detail.
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
	if lines := strings.Split(e.Detail, "\n"); len(lines) != maxErrors || lines[maxErrors-1] != "too many errors" {
		t.Errorf("the detail of 12 errors is %q", e.Detail)
	}
}
