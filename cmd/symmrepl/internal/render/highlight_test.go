package render

import (
	"strings"
	"testing"
)

// marked writes colours as letters in angle brackets.
var marked = strings.NewReplacer("\x1b[34m", "<k ", "\x1b[32m", "<s ", "\x1b[36m", "<n ", "\x1b[2m", "<c ", "\x1b[1m", "<: ", "\x1b[1;4m",
	"<b ", "\x1b[0m", ">")

func TestHighlightEntry(t *testing.T) {
	for _, c := range []struct {
		before, line string
		cursor       int
		want         string
	}{
		{"", "x := 1", -1, "x := <n 1>"},
		{"", "for i := range 10 {", -1, "<k for> i := <k range> <n 10> {"},
		{"", `fmt.Println("a", 'b', 1.5e3, 2i) // c`, -1, `fmt.Println(<s "a">, <s 'b'>, <n 1.5e3>, <n 2i>) <c // c>`},
		{"", `s := "unfinished`, -1, `s := <s "unfinished>`},
		{"", "s := `unfinished", -1, "s := <s `unfinished>"},
		{"", "/* unfinished", -1, "<c /* unfinished>"},
		{"", "größe := \"世界\"", -1, "größe := <s \"世界\">"},
		{"", "# ? @", -1, "# ? @"},
		{"", "x\n", -1, "x\n"},
		{"", "", 0, ""},
		// Lines of an unfinished entry.
		{"s := `one\n", "two` + x", -1, "<s two`> + x"},
		{"s := `one\n", "two", -1, "<s two>"},
		{"/* one\n", "two */ if x", -1, "<c two */> <k if> x"},
		{"func f() {\n", "\treturn 1", -1, "\t<k return> <n 1>"},
		{"s := `one\ntwo`\n", "var x", -1, "<k var> x"},
		// Brackets.
		{"", "f(a[1])", 7, "f<b (>a[<n 1>]<b )>"},
		{"", "f(a[1])", 1, "f<b (>a[<n 1>]<b )>"},
		{"", "f(a[1])", 3, "f(a<b [><n 1><b ]>)"},
		{"", "f(a[1])", 6, "f<b (>a[<n 1>]<b )>"},
		{"", "f(a[1]", 2, "f(a[<n 1>]"},
		{"", "f(a]", 4, "f(a]"},
		{"", `f(")")`, 4, `f(<s ")">)`},
		{"", `f("(")`, 6, `f<b (><s "("><b )>`},
		{"if x {\n", "}", 1, "<b }>"},
		{"if x {\n", "} // {", 1, "<b }> <c // {>"},
		// Text that is not Go.
		{"", ":help", -1, "<: :help>"},
		{"", ":type 1 + x", -1, "<: :type> <n 1> + x"},
		{"", ":on 0,2 f(1)", 12, "<: :on> <n 0>,<n 2> f<b (><n 1><b )>"},
		{"", ":history 10", -1, "<: :history> 10"},
		{"", "%time for", -1, "<: %time> <k for>"},
		{"", "  :vars", -1, "  <: :vars>"},
		{"", "$ for f in 1", -1, "<: $> for f in 1"},
		{"", "%%rank [0,2]", -1, "<: %%rank> [0,2]"},
		{"%%rank [0]\n", "for {", -1, "<k for> {"},
		{":time for {\n", "var x", -1, "<k var> x"},
	} {
		if got := marked.Replace(HighlightEntry(c.before, c.line, c.cursor)); got != c.want {
			t.Errorf("%q below %q with the cursor at %d gives %q, want %q", c.line, c.before, c.cursor, got, c.want)
		}
	}
}

// FuzzHighlight checks that colours change no character of the text.
func FuzzHighlight(f *testing.F) {
	f.Add("s := `a\n", "b` + (c)", 7)
	f.Add(":time {\n", "}", 1)
	f.Add("", "\x00\xff\"", 2)
	plain := strings.NewReplacer("\x1b[34m", "", "\x1b[32m", "", "\x1b[36m", "", "\x1b[2m", "", "\x1b[1m", "", "\x1b[1;4m", "", "\x1b[0m",
		"")
	f.Fuzz(func(t *testing.T, before, line string, cursor int) {
		if strings.ContainsAny(before+line, "\x1b") {
			t.Skip("the fuzzed text itself has escape sequences")
		}
		if before != "" {
			before += "\n"
		}
		if got := plain.Replace(HighlightEntry(before, line, cursor)); got != line {
			t.Errorf("%q below %q is shown as %q", line, before, got)
		}
	})
}

// BenchmarkHighlight measures one key typed in the hundredth line of an entry.
func BenchmarkHighlight(b *testing.B) {
	before := strings.Repeat("\tfmt.Println(\"a line of a long function\", 1, 2, 3) // says so\n", 100)
	for b.Loop() {
		HighlightEntry(before, "\tfor i := range 10 { f(a[i]) }", 20)
	}
}
