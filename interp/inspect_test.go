package interp

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

func TestInspect(t *testing.T) {
	in := open(t, Options{Inspect: func(_ context.Context, q session.Query) (session.Answer, error) {
		return session.Answer{Text: string(q.Topic) + "!" + q.Arg}, nil
	}})
	mustEval(t, in, "type P struct{ Xs int; y string }\nfunc (p P) Show() string { return p.y }\nfunc (p *P) Set(n int) { p.Xs = n }\n"+
		"type Q struct { P; Z float64 }")
	mustEval(t, in, "b := P{1, \"two\"}\na := []int{1, 2}\nqq := &Q{}\nfunc add(a, b int) int { return a + b }\nconst limit = 10")
	mustEval(t, in, "b.Set(5)")
	ask := func(topic session.Topic, arg string) string {
		t.Helper()
		a, err := in.Inspect(context.Background(), session.Query{Topic: topic, Arg: arg})
		if err != nil {
			return "error: " + err.Error()
		}
		return a.Text
	}
	a, err := in.Inspect(context.Background(), session.Query{Topic: session.TopicVars})
	want := []session.Variable{
		{Name: "b", Type: "P", Size: 27, Value: `P{Xs: 5, y: "two"}`},
		{Name: "a", Type: "[]int", Size: 40, Value: "[]int{1, 2}"},
		{Name: "qq", Type: "*Q", Size: 40, Value: `&Q{P: P{Xs: 0, y: ""}, Z: 0}`},
	}
	if err != nil || !slices.Equal(a.Variables, want) {
		t.Errorf("the variables are %+v (%v), want %+v", a.Variables, err, want)
	}
	a, err = in.Inspect(context.Background(), session.Query{Topic: session.TopicState})
	if err != nil || a.State == nil || !slices.Equal(a.State.Variables, want) {
		t.Errorf("the state is %+v (%v), want the variables %+v", a.State, err, want)
	}
	a, err = in.Inspect(context.Background(), session.Query{Topic: session.TopicComplete, Arg: "b.Sh"})
	if err != nil || !slices.Equal(a.Candidates, []session.Candidate{{Name: "Show", Kind: "method", Type: "func() string"}}) {
		t.Errorf("b.Sh completes to %+v (%v)", a.Candidates, err)
	}
	for _, c := range []struct {
		topic     session.Topic
		arg, want string
	}{
		{session.TopicType, "a", "[]int"},
		{session.TopicType, "a[0] + 1", "int"},
		{session.TopicType, "b.Show", "func() string"},
		{session.TopicType, "add", "func(a int, b int) int"},
		{session.TopicType, "P", "type P struct{Xs int; y string}\nfunc (P) Show() string\nfunc (*P) Set(n int)"},
		{session.TopicType, "limit", "untyped int constant 10"},
		{session.TopicType, "strings.ToUpper", "func(string) string"},
		{session.TopicCaps, "z", "caps!z"},
	} {
		if got := ask(c.topic, c.arg); got != c.want {
			t.Errorf("%s(%q) is %q, want %q", c.topic, c.arg, got, c.want)
		}
	}
	if got := ask(session.TopicType, "nope"); !strings.HasPrefix(got, "error: ") {
		t.Errorf("the type of an unknown name is %q", got)
	}
}

// The list of variables shows a tensor of two dimensions as a table of its corners.
func TestCorners(t *testing.T) {
	for text, want := range map[string]string{
		"i8[3] on cpu [1 2 3]":              "i8[3] on cpu [1 2 3]",
		"i8[2, 2] on cpu\n   1 20\n  -3  4": "i8[2, 2] on cpu\n  1 20\n -3  4",
		"i32[9, 9] on cpu\n" + strings.Repeat("  1 22 333 4 … 6 7 8888 9\n",
			4) + "  …\n" + strings.Repeat("  1 22 333 4 … 6 7 888 99999\n", 3) + "  1 22 333 4 … 6 7 888 1": "i32[9, 9] on cpu\n" +
			strings.Repeat(" 1 22 … 8888     9\n", 2) + " …\n" + " 1 22 …  888 99999\n 1 22 …  888     1",
	} {
		if got := strings.Join(corners(strings.Split(text, "\n")), "\n"); got != want {
			t.Errorf("%s\nbecomes\n%s\nwant\n%s", text, got, want)
		}
	}
}

// TestInspectWhileRunning checks that a map is not read while a cell may write to it, because that
// would end the process.
func TestInspectWhileRunning(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, "m := map[int]int{0: 0}")
	vars := func() session.Variable {
		a, err := in.Inspect(context.Background(), session.Query{Topic: session.TopicVars})
		if err != nil || len(a.Variables) != 1 {
			t.Fatalf("%+v, %v", a.Variables, err)
		}
		return a.Variables[0]
	}
	m := func(value string) session.Variable {
		return session.Variable{Name: "m", Type: "map[int]int", Size: 24, Value: value}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		in.Eval(ctx, session.Cell{ID: 2, Source: "for i := 0; ; i = (i + 1) % 100 { m[0] = i; delete(m, 1); m[1] = i }"})
	}()
	for start := time.Now(); vars() == m("map[int]int{0: 0}"); { // until it runs
		if time.Since(start) > patient() {
			t.Fatal("the cell does not run")
		}
	}
	for range 200 {
		if got := vars(); got.Name != "m" || got.Type != "map[int]int" || got.Value != "map[int]int{…}" {
			t.Errorf("a map that a cell writes to is listed as %+v", got)
			break
		}
	}
	cancel()
	<-done
	mustEval(t, in, "m = map[int]int{1: 2}")
	if got := vars(); got != m("map[int]int{1: 2}") {
		t.Errorf("a map is listed as %+v", got)
	}
}
