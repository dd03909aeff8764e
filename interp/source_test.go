package interp

import (
	"context"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// TopicDoc has the source of what cells defined and of functions in kernels' headers, if it is asked
// for, and the variable of the name.
func TestSources(t *testing.T) {
	in := completing(t)
	const twice = "// Twice doubles.\nfunc Twice(n int) int {\n\treturn 2 * n\n}"
	const up = "func (c *counter) Up() { c.N++ }"
	mustEval(t, in, twice+"\n\ntype counter struct{ N int }\n"+up+"\nconst (\n\tlow = 1\n\thigh = 9\n)")
	mustEval(t, in, "// a comment\nc, d := &counter{}, 2; var s = []int{1, 2}\nif d > 1 { c := 5; _ = c }")
	long := "long := `" + strings.Repeat("x", 20<<10) + "`"
	mustEval(t, in, long)
	for _, c := range []struct{ name, want, value string }{
		{name: "Twice", want: twice},
		{name: "Twice()", want: twice},
		{name: "counter", want: "type counter struct{ N int }"},
		{name: "counter.Up", want: up},
		{name: "c.Up", want: up},
		{name: "high", want: "high = 9"},
		{name: "c", want: "// a comment\nc, d := &counter{}, 2", value: "*counter &counter{N: 0}"},
		{name: "s", want: "var s = []int{1, 2}", value: "[]int []int{1, 2}"},
		{name: "long", want: long[:16<<10] + "…", value: "string \"" + strings.Repeat("x", 78) + "…"},
		{name: "strings.Repeat"},
		{name: "symm.Empty"},
	} {
		a, err := in.Inspect(context.Background(), session.Query{Topic: session.TopicDoc, Arg: c.name, Source: true})
		value := ""
		for _, v := range a.Variables {
			value += v.Type + " " + v.Value
		}
		if err != nil || a.Source != c.want || value != c.value {
			t.Errorf("%s: %v, source\n%s\nwant\n%s\nvalue %q, want %q", c.name, err, a.Source, c.want, value, c.value)
		}
	}
	const begin = "__device__ __forceinline__ bool put_signal(const Handle& h, int dst, u32 channel) {\n"
	a, err := in.Inspect(context.Background(), session.Query{Topic: session.TopicDoc, Arg: "symm::put_signal", Snippet: "void f() { ", Source: true})
	if err != nil || !strings.HasPrefix(a.Source, begin) || !strings.HasSuffix(a.Source, "\n}") || strings.Count(a.Source, "bool put_signal(") != 1 {
		t.Errorf("symm::put_signal: %v\n%s", err, a.Source)
	}
	if a, _ := in.Inspect(context.Background(), session.Query{Topic: session.TopicDoc, Arg: "Twice"}); a.Source != "" {
		t.Errorf("a source that was not asked for:\n%s", a.Source)
	}
}
