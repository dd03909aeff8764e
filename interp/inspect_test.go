package interp

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

func TestInspect(t *testing.T) {
	in := open(t, Options{Inspect: func(_ context.Context, topic, arg string) (string, error) { return topic + "!" + arg, nil }})
	mustEval(t, in, "type P struct{ Xs int; y string }\nfunc (p P) Show() string { return p.y }\nfunc (p *P) Set(n int) { p.Xs = n }\n"+
		"type Q struct { P; Z float64 }")
	mustEval(t, in, "b := P{1, \"two\"}\na := []int{1, 2}\nqq := &Q{}\nfunc add(a, b int) int { return a + b }\nconst limit = 10")
	mustEval(t, in, "b.Set(5)")
	ask := func(topic, arg string) string {
		t.Helper()
		s, err := in.Inspect(context.Background(), topic, arg)
		if err != nil {
			return "error: " + err.Error()
		}
		return s
	}
	for _, c := range []struct{ topic, arg, want string }{
		{session.TopicVars, "", "b\tP\t27\tP{Xs: 5, y: \"two\"}\na\t[]int\t40\t[]int{1, 2}\nqq\t*Q\t40\t&Q{P: P{Xs: 0, y: \"\"}, Z: 0}"},
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

// TestInspectWhileRunning holds that a map is not read while a cell may write to it, which would end the process.
func TestInspectWhileRunning(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, "m := map[int]int{0: 0}")
	vars := func() string {
		s, err := in.Inspect(context.Background(), session.TopicVars, "")
		if err != nil {
			t.Error(err)
		}
		return s
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		in.Eval(ctx, session.Cell{ID: 2, Source: "for i := 0; ; i = (i + 1) % 100 { m[0] = i; delete(m, 1); m[1] = i }"})
	}()
	for start := time.Now(); vars() == "m\tmap[int]int\t24\tmap[int]int{0: 0}"; { // until it runs
		if time.Since(start) > patient {
			t.Fatal("the cell does not run")
		}
	}
	for range 200 {
		if got := vars(); !strings.HasPrefix(got, "m\tmap[int]int\t") || !strings.HasSuffix(got, "\tmap[int]int{…}") {
			t.Errorf("a map that a cell writes to is listed as %q", got)
			break
		}
	}
	cancel()
	<-done
	mustEval(t, in, "m = map[int]int{1: 2}")
	if got := vars(); got != "m\tmap[int]int\t24\tmap[int]int{1: 2}" {
		t.Errorf("a map is listed as %q", got)
	}
}
