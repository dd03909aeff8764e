package interp

import (
	"errors"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// What deferred calls panic with does not hide the panics before: they are in the detail of an error that is not worded as a panic.
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
