package console_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func TestExplain(t *testing.T) {
	for text, want := range map[string][]string{
		"fmt.Println|":         {"fmt.Println"},
		"fmt.Pri|ntln":         {"fmt.Println"},
		"x := f(1, |":          {"f"},
		"a.b(c(1), d(2, e|f))": {"ef", "d", "a.b"},
		"f(1)|":                nil,
		"f(\") )\", |":         {"f"},
		"f(g(\"(\"), ')', |":   {"f"},
		"f(1) // g(|":          nil,
		"f(1, \"g(|":           {"f"},
		"|":                    nil,
		"größe|":               {"größe"},
		"symm::put|":           {"symm::put"},
		"symm::p|ut(h, 1)":     {"symm::put"},
		"symm::get(h, 1, |":    {"symm::get"},
		"case x:|":             nil,
	} {
		at := strings.Index(text, "|")
		if got := console.NamesAt(text[:at]+text[at+1:], at); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	c, fake, _ := newConsole()
	fake.OnInspect = func(ranks []int, q session.Query) []session.Answer {
		if q.Topic == session.TopicType && q.Arg == "f" {
			return []session.Answer{{Rank: ranks[0], Text: "func()"}}
		}
		return []session.Answer{{Rank: ranks[0], Err: &session.Error{Msg: "unknown"}}}
	}
	for text, want := range map[string]string{
		"f(x|":             "func()",
		":rank|s":          ":ranks  ",
		"$ ls\n\n%ra|nks":  ":ranks  ",
		" %|quit":          ":quit  ",
		":on 0 f(|":        "func()",
		":on 0 :rank|s":    "",
		"f(1)\n:ranks|":    ":ranks  ",
		"f(1,\n:ranks|":    "func()",
		"%%rank|":          "",
		"f(x)\n%f|":        "func()",
		":nosuch|":         "",
		":|":               "",
		"|:ranks":          "",
		":time f(|":        "func()",
		":type f|":         "func()",
		"%%rank [0]\nf(x|": "func()",
	} {
		at := strings.Index(text, "|")
		got := c.Explain(context.Background(), text[:at]+text[at+1:], at)
		if !strings.HasPrefix(got, want) || got != "" && want == "" {
			t.Errorf("%q is explained by %q, want %q", text, got, want)
		}
	}
}

// TestExplainInSnippet checks that names in a raw string are asked for with the text before them,
// and then like others.
func TestExplainInSnippet(t *testing.T) {
	c, fake, _ := newConsole()
	for text, want := range map[string]string{
		"k := symm.Compile(`__global__ void f() { symm::p|ut(h, 1); }`)": "symm::put after __global__ void f() { ",
		"k := symm.Compile(`int a; symm::put(h.p|ad(0), 1); }`)":         "h.pad after int a; symm::put(",
		"%%cuda k -g 1\n__global__ void f() { symm::p|ut(h, 1); }":       "symm::put after __global__ void f() { ",
		"k := symm.Compile(`symm::put(|":                                 "symm::put after ",
		"k := symm.Compile(`a`, f|(1))":                                  "f",
		"k := symm.Compile(`a` + `  g|`":                                 "g after   ",
		"x := \"symm::p|ut\"":                                            "symm::put",
		"`only|` + f(":                                                   "only after ",
		"`a\r\nb|`":                                                      "b after a\r\n",
		"f(`none of it|`)":                                               "f",
	} {
		fake.OnInspect = func(ranks []int, q session.Query) []session.Answer {
			text := q.Arg
			if q.Snippet != "" || strings.Contains(want, "after ") {
				text += " after " + q.Snippet
			}
			if q.Arg == "it" || q.Arg == "Compile" || strings.HasPrefix(q.Arg, "symm.") {
				return []session.Answer{{Rank: ranks[0], Err: &session.Error{Msg: "unknown"}}}
			}
			return []session.Answer{{Rank: ranks[0], Text: text}}
		}
		at := strings.Index(text, "|")
		if got := c.Explain(context.Background(), text[:at]+text[at+1:], at); got != want {
			t.Errorf("%q is explained by %q, want %q", text, got, want)
		}
	}
}

// The explanation of a variable has its values, with the ranks if they differ, in brief and with the
// source; only in brief it has no list of methods.
func TestExplainVariable(t *testing.T) {
	c, fake, _ := newConsole()
	differ := false
	fake.OnInspect = func(ranks []int, q session.Query) (answers []session.Answer) {
		for _, r := range ranks {
			value := "7\n 8"
			if differ && r == 2 {
				value = "9"
			}
			a := session.Answer{Rank: r,
				Text:      "var x *T\n\ntype T struct {\n    // contains filtered or unexported fields\n}\n\nT is one.\n\nfunc (t *T) F()  // F does.",
				Variables: []session.Variable{{Name: "x", Value: value}}}
			if q.Source {
				a.Source = "x := f(\n1)"
			}
			answers = append(answers, a)
		}
		return answers
	}
	const full = "type T struct {\n    // contains filtered or unexported fields\n}\n\nT is one.\n\nfunc (t *T) F()  // F does."
	for _, test := range []struct {
		detail console.Detail
		differ bool
		want   string
	}{
		{console.Brief, false, "var x *T\n\n    7\n     8\n\nT is one."},
		{console.Full, false, "var x *T\n\n" + full},
		{console.WithSource, false, "var x *T\n\n    7\n     8\n\n" + full + "\n\nSource:\n\n    x := f(\n    1)"},
		{console.Brief, true, "var x *T\n\n    [0,1,3] 7\n    [0,1,3]  8\n    [2] 9\n\nT is one."},
	} {
		differ = test.differ
		if got := c.ExplainAt(context.Background(), "x", 1, test.detail); got != test.want {
			t.Errorf("%v: %q, want %q", test.detail, got, test.want)
		}
	}
}

func TestIsQuestion(t *testing.T) {
	for entry, want := range map[string]bool{
		"symm.Empty?": true, "symm::put?": true, " ?x ": true, "x??": true, ":on?": true, "math/rand/v2?": true, "größe?": true,
		"?": false, "x": false, "s := `what?": false, "$ ls ?": false, "x // why?": false, "x\ny?": false, `"a?`: false,
	} {
		if got := console.IsQuestion(entry); got != want {
			t.Errorf("%q: %v", entry, got)
		}
	}
}
