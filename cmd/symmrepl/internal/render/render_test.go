package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

var everyone = []int{0, 1, 2, 3}

func TestOutput(t *testing.T) {
	say := func(stream session.Stream) func([]int, string) session.Output {
		return func(ranks []int, text string) session.Output {
			return session.Output{Ranks: ranks, Stream: stream, Text: text}
		}
	}
	stdout, stderr := say(session.Stdout), say(session.Stderr)
	for name, test := range map[string]struct {
		size    int
		outputs []session.Output
		want    string
	}{
		"prefix on every line": {4, []session.Output{stdout(everyone, "a\nb\n")}, "[0-3] a\n[0-3] b\n"},
		"one rank, no prefix":  {1, []session.Output{stdout([]int{0}, "a\nb\n")}, "a\nb\n"},
		"blank lines":          {4, []session.Output{stdout([]int{1}, "\n\n")}, "[1] \n[1] \n"},
		"a line continued": {4, []session.Output{
			stdout(everyone, "a"), stdout(everyone, "b"), stdout(everyone, "c\nd\n"),
		}, "[0-3] abc\n[0-3] d\n"},
		"a line broken by others": {4, []session.Output{
			stdout([]int{0}, "a"), stdout([]int{1}, "b\n"), stdout([]int{0}, "c\n"),
		}, "[0] a\n[1] b\n[0] c\n"},
		"a line broken by its other stream": {4, []session.Output{
			stdout(everyone, "a"), stderr(everyone, "b\n"),
		}, "[0-3] a\n[0-3] b\n"},
		"nothing": {4, []session.Output{stdout(everyone, "")}, ""},
	} {
		var b bytes.Buffer
		p := New(&b, &b, test.size, false)
		for _, o := range test.outputs {
			p.Output(o)
		}
		if b.String() != test.want {
			t.Errorf("%s: %q, want %q", name, b.String(), test.want)
		}
	}
}

// Ranks with the same value share a line; a value that a rank has twice is shown twice.
func TestValues(t *testing.T) {
	var b bytes.Buffer
	v := func(text string, ranks ...int) session.Value { return session.Value{Ranks: ranks, Text: text} }
	New(&b, &b, 4, false).Reply(session.Reply{Values: []session.Value{v("a", 0, 2), v("b", 1), v("a", 3), v("a", 0, 1)}})
	if got, want := b.String(), "[0,2,3] a\n[1] b\n[0,1] a\n"; got != want {
		t.Errorf("shown as\n%s\nwant\n%s", got, want)
	}
}

func TestStreams(t *testing.T) {
	var out, errs bytes.Buffer
	p := New(&out, &errs, 2, false)
	p.Output(session.Output{Ranks: []int{0, 1}, Stream: session.Stdout, Text: "out\n"})
	p.Output(session.Output{Ranks: []int{0, 1}, Stream: session.Stderr, Text: "err\n"})
	p.Note(nil, "note %d", 1)
	p.Reply(session.Reply{
		Values: []session.Value{{Ranks: []int{1}, Text: "v\nw"}},
		Errors: []*session.Error{{Ranks: []int{0}, Msg: "bad"}},
	})
	p.Fail("no %s", "way")
	if got, want := out.String(), "[0,1] out\n[1] v\n[1] w\n"; got != want {
		t.Errorf("out: %q, want %q", got, want)
	}
	if got, want := errs.String(), "[0,1] err\nnote 1\n[0] bad\nno way\n"; got != want {
		t.Errorf("err: %q, want %q", got, want)
	}
}

func TestError(t *testing.T) {
	long := strings.TrimSuffix(strings.Repeat("line\n", maxDetail+3), "\n")
	for name, test := range map[string]struct {
		err  session.Error
		want string
	}{
		"position, caret, hint": {
			session.Error{Ranks: []int{2}, File: "cell[3]", Line: 4, Column: 6, Msg: "bad", Source: "\tx := y\t", Hint: "do z"},
			"[2] cell[3]:4:6: bad\n[2]     x := y\n[2]         ^\n[2]     hint: do z\n",
		},
		"tabs before the caret stay tabs": {
			session.Error{Ranks: everyone, Msg: "bad", Column: 4, Source: "a\tbc"},
			"[0-3] bad\n[0-3]     a\tbc\n[0-3]      \t ^\n",
		},
		"columns count bytes": {
			session.Error{Ranks: everyone, Msg: "bad", Column: 6, Source: `"ä" + b`},
			"[0-3] bad\n[0-3]     \"ä\" + b\n[0-3]         ^\n",
		},
		"a word is underlined": {
			session.Error{Ranks: everyone, Msg: "bad", Column: 7, Source: "x = y+größe * 2"},
			"[0-3] bad\n[0-3]     x = y+größe * 2\n[0-3]           ^~~~~\n",
		},
		"so is a literal": {
			session.Error{Ranks: everyone, Msg: "bad", Column: 3, Source: `f("a b", 1)`},
			"[0-3] bad\n[0-3]     f(\"a b\", 1)\n[0-3]       ^~~~~\n",
		},
		"wide characters": {
			session.Error{Ranks: everyone, Msg: "bad", Column: 13, Source: `f("世界", 変数)`},
			"[0-3] bad\n[0-3]     f(\"世界\", 変数)\n[0-3]               ^~~~\n",
		},
		"a column within a character": {
			session.Error{Ranks: everyone, Msg: "bad", Column: 14, Source: `f("世界", 変数)`},
			"[0-3] bad\n[0-3]     f(\"世界\", 変数)\n[0-3]               ^~~~\n",
		},
		"pictures and accents": {
			session.Error{Ranks: everyone, Msg: "bad", Column: 13, Source: "\"🚀e\u0301\" + x"},
			"[0-3] bad\n[0-3]     \"🚀e\u0301\" + x\n[0-3]             ^\n",
		},
		"just behind the line": {
			session.Error{Ranks: everyone, Msg: "bad", Column: 4, Source: "f(1"},
			"[0-3] bad\n[0-3]     f(1\n[0-3]        ^\n",
		},
		"a column beyond the line": {
			session.Error{Ranks: everyone, Msg: "bad", Column: 9, Source: "x"},
			"[0-3] bad\n[0-3]     x\n",
		},
		"no column": {session.Error{Ranks: everyone, File: "f.go", Line: 1, Msg: "bad", Source: " x"},
			"[0-3] f.go:1: bad\n[0-3]     x\n"},
		"detail": {session.Error{Ranks: []int{0}, Msg: "bad", Detail: "one\ntwo\n"},
			"[0] bad\n[0]     one\n[0]     two\n"},
		"detail that adds nothing": {session.Error{Ranks: []int{0}, Msg: "bad", Detail: "bad\n"}, "[0] bad\n"},
		"long detail": {
			session.Error{Ranks: []int{0}, Msg: "bad", Detail: long},
			"[0] bad\n" + strings.Repeat("[0]     line\n", maxDetail) + "[0]     … 3 more lines\n",
		},
	} {
		var b bytes.Buffer
		New(&b, &b, 4, false).Error(&test.err)
		if b.String() != test.want {
			t.Errorf("%s:\n%swant\n%s", name, b.String(), test.want)
		}
	}
}

func TestColour(t *testing.T) {
	var b bytes.Buffer
	p := New(&b, &b, 2, true)
	p.Output(session.Output{Ranks: []int{0}, Stream: session.Stdout, Text: "a\n"})
	p.Error(&session.Error{Ranks: []int{1}, Msg: "bad"})
	want := "\x1b[2m[0] \x1b[0ma\n\x1b[2m[1] \x1b[0m\x1b[1;31mbad\x1b[0m\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestTable(t *testing.T) {
	got := Table([][]string{{"a", "long header", ""}, {"1", "x", "é"}, {"22", "y", ""}})
	want := "a   long header\n1   x            é\n22  y\n"
	if got != want {
		t.Errorf("\n%swant\n%s", got, want)
	}
	got = Table([][]string{{"name", "value", ""}, {"t", "1 2\n3 4", "x"}})
	want = "name  value\nt     1 2    x\n      3 4\n"
	if got != want {
		t.Errorf("\n%swant\n%s", got, want)
	}
}

// Numbers are at the right, several lines in columns of characters, and text is no HTML.
func TestTableHTML(t *testing.T) {
	got := TableHTML([][]string{{"rank", "memory", "value"}, {"0", "1.5 MiB", "<b>\x1b[1m"}, {"1", "-2e+06", "0 1\n2 3"}})
	style := func(tag, align, text string) string {
		return "<" + tag + ` style="text-align:` + align + `;vertical-align:top;white-space:pre">` + text + "</" + tag + ">"
	}
	want := `<div style="max-width:100%;overflow-x:auto"><table class="dataframe">` + "\n<tr>" +
		style("th", "right", "rank") + style("th", "right", "memory") + style("th", "left", "value") + "</tr>\n<tr>" +
		style("td", "right", "0") + style("td", "right", "1.5 MiB") + style("td", "left", "&lt;b&gt;"+Plain("\x1b[1m")) + "</tr>\n<tr>" +
		style("td", "right", "1") + style("td", "right", "-2e+06") + style("td", "left", "<code>0 1\n2 3</code>") + "</tr>\n</table></div>"
	if got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
}

func BenchmarkOutput(b *testing.B) {
	text := strings.Repeat("a line of output of some forty characters\n", 800)
	p := New(new(discard), new(discard), 4, false)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		p.Output(session.Output{Ranks: everyone, Stream: session.Stdout, Text: text})
	}
}

type discard struct{}

func (*discard) Write(b []byte) (int, error) { return len(b), nil }
