package console

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

func TestSplit(t *testing.T) {
	for cell, want := range map[string][]part{
		"":                            {{"", 1}},
		"x\n:ranks":                   {{"x\n:ranks", 1}},
		":ranks":                      {{":ranks", 1}},
		"%ranks\n$ ls\n\nx := 1\nx":   {{"%ranks", 1}, {"$ ls", 2}, {"x := 1\nx", 4}},
		"\n\nx":                       {{"x", 3}},
		"%%rank [0]\nx":               {{"%%rank [0]\nx", 1}},
		":on 0\nx":                    {{":on 0", 1}, {"x", 2}},
		":on 0 f(\n1)":                {{":on 0 f(\n1)", 1}},
		"$ ls\n:time for {\nf()\n}\n": {{"$ ls", 1}, {":time for {\nf()\n}\n", 2}},
	} {
		if got := split(cell); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, want %v", cell, got, want)
		}
	}
	if got := LastEntry("%ranks\nstrings.Re"); got != "strings.Re" {
		t.Errorf("the last entry is %q", got)
	}
}

func TestNotebook(t *testing.T) {
	c, fake, out := newConsole()
	if got := c.Notebook(context.Background(), ":on 1,2\n\nx := 1"); got != Done {
		t.Errorf("outcome %v: %s", got, out)
	}
	if cell := fake.cells[0]; cell.Source != "x := 1" || cell.Line != 3 || fmt.Sprint(cell.Ranks) != "[1 2]" {
		t.Errorf("cell %+v", cell)
	}
	if got := c.Notebook(context.Background(), ":nosuch\nx = 2"); got != Failed || len(fake.cells) != 1 {
		t.Errorf("outcome %v, %d cells", got, len(fake.cells))
	}
}

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
	} {
		at := strings.Index(text, "|")
		if got := namesAt(text[:at]+text[at+1:], at); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	c, fake, _ := newConsole()
	fake.inspect = func(ranks []int, q session.Query) []session.Answer {
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
		"f(1)\n:ranks|":    "",
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
