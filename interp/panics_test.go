package interp

import (
	"errors"
	"fmt"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// A panic of a deferred call does not hide earlier panics: they are in the detail of an error that
// is not worded as a panic.
func TestPanicBeforeError(t *testing.T) {
	cause := errors.New("t was freed")
	in := open(t, Options{
		Packages: testPackage(func() { panic(cause) }),
		ConvertError: func(err error) *session.Error {
			if err == cause {
				return &session.Error{Kind: session.KindMisuse, Peer: -1, Msg: err.Error()}
			}
			return nil
		},
	})
	for i, c := range []struct{ src, msg, detail string }{
		{"blocking.Wait()", "t was freed", ""},
		{"func() {\n\tdefer blocking.Wait()\n\tpanic(\"two\\nlines\")\n}()", "t was freed", "in a deferred call, after panic: two\n\tlines"},
		{"func() {\n\tdefer blocking.Wait()\n\tdefer func() { recover(); panic(2) }()\n\tpanic(1)\n}()",
			"t was freed", "in a deferred call, after panic: 1 [recovered]\n\tpanic: 2"},
		{"func() {\n\tdefer func() { panic(3) }()\n\tblocking.Wait()\n}()", "panic: t was freed\n\tpanic: 3", ""},
		{"func() {\n\tdefer func() { panic(recover()) }()\n\tblocking.Wait()\n}()", "t was freed", ""},
	} {
		e := in.Eval(t.Context(), session.Cell{ID: i + 1, Source: "import \"test/blocking\"\n\n" + c.src}).Err
		if e == nil || e.Msg != c.msg || e.Detail != c.detail {
			t.Errorf("%s: got %#v, want %q with detail %q", c.src, e, c.msg, c.detail)
		}
	}
}

// An error in a function of a cell gives the position of the cell's statement that called the
// function. An error in the statement itself, or in a function literal of it, does not.
func TestWhereTheCellWas(t *testing.T) {
	in := open(t, Options{})
	for i, c := range []struct{ src, at, detail string }{
		{"func div(a, b int) int {\n\treturn a / b\n}", "", ""},
		{"mean := func(xs []int) int {\n\treturn div(100, len(xs))\n}", "", ""},
		{"x := 1\nx += mean(nil)", "c1:2:9", "while the cell was at c3:2:6"},
		{"div(1, 1)\nmean([]int{1})\ndiv(x, 0)", "c1:2:9", "while the cell was at c4:3:1"},
		{"div(1, 1)\nx / (x - x)", "c5:2:1", ""},
		{"func() {\n\tpanic(1)\n}()", "c6:2:2", ""},
		{"import \"slices\"\n\nslices.SortFunc([]int{2, 1}, func(a, b int) int {\n\treturn a / (x - x)\n})", "c7:4:9", ""},
		{"func inside() {\n\tpanic(1)\n}\nfor i := range 2 {\n\tif i == 1 {\n\t\tinside()\n\t}\n}", "c8:2:2", "while the cell was at c8:6:3"},
		{"none := []int{}\nnone[3]", "c9:2:1", ""},
		{"first := func() int {\n\treturn none[0]\n}\nx = 2\nfirst()", "c10:2:9", "while the cell was at c10:5:1"},
	} {
		e := in.Eval(t.Context(), session.Cell{ID: i + 1, Name: fmt.Sprint("c", i+1), Source: c.src}).Err
		got, detail := "", ""
		if e != nil {
			got, detail = fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column), e.Detail
		}
		if got != c.at || detail != c.detail {
			t.Errorf("%q: an error at %q with %q, want %q with %q", c.src, got, detail, c.at, c.detail)
		}
	}
}
