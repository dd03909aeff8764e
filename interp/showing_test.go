package interp

import (
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// TestShowing checks that the session is told when the value of a cell is about to be shown, before its
// methods are called, and when that is over, also if a method panics.
func TestShowing(t *testing.T) {
	var events []string
	in := open(t, Options{
		Showing: func() (shown func()) {
			events = append(events, "begin")
			return func() { events = append(events, "end") }
		},
		Packages: Exports{"test/hook/hook": {"Note": reflect.ValueOf(func(s string) { events = append(events, s) })}},
		Names:    map[string]string{"hook": "test/hook"},
	})
	mustEval(t, in, `type loud struct{}
func (loud) String() string { hook.Note("String"); return "loud" }
type bad struct{}
func (bad) HTML() string { hook.Note("HTML"); panic("no") }
var s fmt.Stringer = loud{}`)
	for cell, want := range map[string]string{
		`hook.Note("run"); loud{}`: "run begin String end",
		`hook.Note("run"); s`:      "run begin String end",
		`hook.Note("run"); bad{}`:  "run begin HTML end",
		`hook.Note("run")`:         "run",
		`panic(hook.Note)`:         "",
		"1 + 1":                    "begin end",
	} {
		events = nil
		evaluate(in, session.Cell{Source: cell})
		if got := strings.Join(events, " "); got != want {
			t.Errorf("%s: %s, want %s", cell, got, want)
		}
	}
}
