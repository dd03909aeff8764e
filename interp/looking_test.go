package interp

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// TestLookingRunsNoCode checks that no way of looking at a session's variables calls a method of
// a cell's value, however deep the value lies in values of compiled code.
func TestLookingRunsNoCode(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, `import ("encoding/json"; "net/url"; "io/fs"; "context"; "sync/atomic")
calls := 0
type loud struct{ N int }
func (l loud) Error() string { calls++; return "called" }
func (l loud) Format(fmt.State, rune) { calls++ }
func (l loud) GoString() string { calls++; return "called" }
func (l loud) MarshalJSON() ([]byte, error) { calls++; return []byte("1"), nil }
func (l loud) MarshalText() ([]byte, error) { calls++; return []byte("called"), nil }
func (l loud) Bytes() int { calls++; return 1 }
func (l loud) HTML() string { calls++; return "called" }
type words int
func (w words) String() string { calls++; return "called" }
type address uintptr
func (a address) String() string { calls++; return "called" }
func (a address) Format(fmt.State, rune) { calls++ }
type pointed struct{ n int }
func (p *pointed) String() string { calls++; return "called" }
type inner struct{ loud }
type list []loud`)
	for _, c := range []struct{ expr, want string }{
		{"error(loud{1})", "loud{N: 1}"},
		{"fmt.Stringer(words(2))", "words(2)"},
		{"fmt.Stringer(&pointed{3})", "&pointed{n: 3}"},
		{"fmt.Stringer(address(16))", "address(0x10)"},
		{"any(address(16))", "address(0x10)"},
		{"loud{1}", "loud{N: 1}"},
		{"error(inner{loud{1}})", "inner{loud: loud{N: 1}}"},
		{"error(struct{ loud }{loud{1}})", ""},
		{"any(struct{ error }{loud{1}})", ""},
		{"[]error{loud{1}}", "[]error{loud{N: 1}}"},
		{"list{{1}}", "list{loud{N: 1}}"},
		{"map[fmt.Stringer]error{words(1): loud{1}, words(0): nil}", "map[fmt.Stringer]error{words(0): nil, words(1): loud{N: 1}}"},
		{"map[loud]int{{2}: 1, {1}: 2}", "map[loud]int{loud{N: 1}: 2, loud{N: 2}: 1}"},
		{"map[any]int{loud{2}: 1, loud{1}: 2}", "map[any]int{loud{N: 1}: 2, loud{N: 2}: 1}"},
		{"map[words]int{2: 1, 1: 2}", "map[words]int{words(1): 2, words(2): 1}"},
		{"errors.Join(loud{1}, errors.New(\"x\"))", "(*errors.joinError)(0x…)"},
		{"errors.Join(errors.New(\"w\"), errors.New(\"x\"))", "w x"},
		{"error(&fs.PathError{\"open\", \"f\", loud{1}})", "(*fs.PathError)(0x…)"},
		{"error(&fs.PathError{\"open\", \"f\", fs.ErrExist})", "open f: file already exists"},
		{"error(&url.Error{\"get\", \"f\", error(inner{loud{1}})})", "(*url.Error)(0x…)"},
		{"context.WithValue(context.Background(), words(1), 2)", "(*context.valueCtx)(0x…)"},
		{"reflect.TypeOf(words(1))", "main.words"},
		{"new(json.Encoder)", "(*json.Encoder)(0x…)"},
		{"[]any{loud{1}, words(2), any(error(loud{3}))}", "[]any{loud{N: 1}, words(2), loud{N: 3}}"},
		{"func() any { v := new(atomic.Value); v.Store(words(1)); return v }()", "(*atomic.Value)(0x…)"},
	} {
		mustEval(t, in, "v := "+c.expr+"\ncalls = 0")
		for _, topic := range []session.Topic{session.TopicVars, session.TopicState, session.TopicDoc} {
			a, err := in.Inspect(context.Background(), session.Query{Topic: topic, Arg: "v"})
			list := a.Variables
			if a.State != nil {
				list = a.State.Variables
			}
			got := ""
			for _, v := range list {
				if v.Name == "v" {
					got = v.Value
				}
			}
			if err != nil || got == "" || strings.Contains(got, "called") || c.want != "" && got != c.want {
				t.Errorf("%s is shown by %s as %q (%v), want %q", c.expr, topic, got, err, c.want)
			}
		}
		if got := mustEval(t, in, "calls"); got != "0" {
			t.Errorf("looking at %s has called methods of it %s times", c.expr, got)
		}
	}
}

// TestEndlessMethods checks that a method that does not end, of a value that a cell shows or panics
// with, is interrupted as the cell is, and that others can look at the session meanwhile.
func TestEndlessMethods(t *testing.T) {
	for what, cell := range map[string]string{
		"the value of an expression":     "e",
		"a value in others":              "[]error{e}",
		"a value in another error":       "errors.Join(e, e)",
		"a value that describes itself":  "endless{}",
		"a panic":                        "panic(e)",
		"a panic of a goroutine":         "go panic(e)\nselect {}",
		"a form of a value":              "display.JSON(map[string]any{\"a\": e})",
		"a panic while another is under": "defer func() { panic(e) }()\npanic(e)",
	} {
		t.Run(what, func(t *testing.T) {
			entered := make(chan bool, 9)
			in := open(t, Options{
				Packages: Exports{"test/hook/hook": {"Enter": reflect.ValueOf(func() { entered <- true })}},
				Names:    map[string]string{"hook": "test/hook"},
			})
			mustEval(t, in, "type endless struct{}\nfunc (endless) Error() string { hook.Enter(); for {} }\n"+
				"func (endless) MarshalJSON() ([]byte, error) { hook.Enter(); for {} }\nvar e error = endless{}\nkept := 5")
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			done := make(chan session.Result)
			go func() { done <- in.Eval(ctx, session.Cell{ID: 3, Source: cell}) }()
			select {
			case <-entered:
			case r := <-done:
				t.Fatalf("the method is not called: %+v", r)
			}
			a, err := in.Inspect(context.Background(), session.Query{Topic: session.TopicVars})
			if err != nil || len(a.Variables) != 2 {
				t.Fatalf("%+v, %v", a, err)
			}
			in.Doing()
			cancel()
			select {
			case r := <-done:
				if r.Err == nil || r.Err.Kind != session.KindInterrupted && r.Err.Kind != session.KindPanic {
					t.Errorf("the cell ends with %+v", r)
				}
			case <-time.After(patient()):
				t.Fatal("the cell is not interrupted")
			}
			if got := mustEval(t, in, "kept"); got != "5" {
				t.Errorf("the next cell gives %s", got)
			}
		})
	}
}

// TestHoveringRunsNoCode checks that the value of a name, which editors ask for below the pointer, is shown
// without methods of cells while code stands; an expression with a call runs it.
func TestHoveringRunsNoCode(t *testing.T) {
	d := openDebugged(t)
	mustEval(t, d.in, "calls := 0\ntype loud struct{ N int }\nfunc (l loud) Error() string { calls++; return \"called\" }\nvar own error = loud{1}")
	d.begin(2, "func f() {\n\tvar e error = loud{2}\n\tl := loud{3}\n\tp := &l\n\tfmt.Sprint(e == nil, l.N, p.N)\n}\nf()", 5)
	d.next("breakpoint cell[2]:5:2")
	for _, c := range []struct{ expr, want string }{
		{"e", "loud{N: 2}"}, {"l", "loud{N: 3}"}, {" p ", "&loud{N: 3}"}, {"own", "loud{N: 1}"}, {"calls", "0"},
		{"e.Error()", `"called"`}, {"calls", "1"},
	} {
		a, err := d.in.Inspect(context.Background(), session.Query{Topic: session.TopicEvaluate, Arg: c.expr})
		if err != nil || a.Result == nil || a.Result.Value != c.want {
			t.Errorf("%s is %+v (%v), want %s", c.expr, a.Result, err, c.want)
		}
	}
	d.stop()
	<-d.end
}
