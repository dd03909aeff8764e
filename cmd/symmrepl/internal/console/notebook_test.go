package console_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
)

func TestSplit(t *testing.T) {
	c, _, _ := newConsole()
	for cell, want := range map[string][]console.Part{
		"":                                    {{"", 1}},
		"x\n:ranks":                           {{"x", 1}, {":ranks", 2}},
		"  x\n\n\t%ranks\n\n y\n$ ls 'a\nz\n": {{"  x", 1}, {"\t%ranks", 3}, {" y", 5}, {"$ ls 'a", 6}, {"z\n", 7}},
		"x\n:time f(\n1)\ny\n%%rank [0]\nz":   {{"x", 1}, {":time f(\n1)", 2}, {"y\n%%rank [0]\nz", 4}},
		"%time f() // {\ng()":                 {{"%time f() // {", 1}, {"g()", 2}},
		"%time if f() {\n} else {\n}\ng()":    {{"%time if f() {\n} else {\n}", 1}, {"g()", 4}},
		"s := `\n%ranks\n`\n/*\n:ranks\n*/\nf(`a\n$ ls`, \"{\")\n:ranks": {{"s := `\n%ranks\n`\n/*\n:ranks\n*/\nf(`a\n$ ls`, \"{\")", 1}, {":ranks", 9}},
		"x\n:time f()\n\n %%\ng()\n%ranks":                               {{"x", 1}, {":time f()\n\n %%\ng()\n%ranks", 2}},
		"func f() {\n%ranks\n}":                                          {{"func f() {\n%ranks\n}", 1}},
		"x := a[\n:2]\n*/ }\n%ranks":                                     {{"x := a[\n:2]\n*/ }", 1}, {"%ranks", 4}},
		"x\n% 3\n:= 4\n%= 5\n:":                                          {{"x\n% 3\n:= 4\n%= 5\n:", 1}},
		"%%cuda\nS() :\n:x(1)\n%y":                                       {{"%%cuda\nS() :\n:x(1)\n%y", 1}},
		"x\n:time\nf()\n%ranks":                                          {{"x", 1}, {":time\nf()\n%ranks", 2}},
		":ranks":                                                         {{":ranks", 1}},
		"%ranks\n$ ls\n\nx := 1\nx":                                      {{"%ranks", 1}, {"$ ls", 2}, {"x := 1\nx", 4}},
		"\n\nx":                                                          {{"x", 3}},
		"%%rank [0]\nx":                                                  {{"%%rank [0]\nx", 1}},
		"%%cd \"/\"\nx":                                                  {{"%%cd \"/\"", 1}, {"x", 2}},
		":on 0\nx":                                                       {{":on 0", 1}, {"x", 2}},
		":on 0 f(\n1)":                                                   {{":on 0 f(\n1)", 1}},
		"$ ls\n:time for {\nf()\n}\n":                                    {{"$ ls", 1}, {":time for {\nf()\n}\n", 2}},
		"$ ls\n:ti for {\nf()\n}\n":                                      {{"$ ls", 1}, {":ti for {\nf()\n}\n", 2}},
		":tr\nf()":                                                       {{":tr\nf()", 1}},
	} {
		if got := c.Split(cell); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, want %v", cell, got, want)
		}
	}
	if got := c.LastEntry("%ranks\nstrings.Re"); got != "strings.Re" {
		t.Errorf("the last entry is %q", got)
	}
}

func TestNotebook(t *testing.T) {
	c, fake, out := newConsole()
	if got := c.Notebook(context.Background(), c.Request(":on 1,2\n\nx := 1")); got != console.Done {
		t.Errorf("outcome %v: %s", got, out)
	}
	if got := c.Notebook(context.Background(), c.Request("y := 1\n%time y++\n\ny")); got != console.Done {
		t.Errorf("outcome %v: %s", got, out)
	}
	var lines []string
	for _, cell := range fake.Cells[1:] {
		lines = append(lines, fmt.Sprintf("%d %s", cell.Line, cell.Source))
	}
	if want := "[1 y := 1 2 y++ 4 y]"; fmt.Sprint(lines) != want {
		t.Errorf("the cells %q, want %q", lines, want)
	}
	fake.Cells = fake.Cells[:1]
	if cell := fake.Cells[0]; cell.Source != "x := 1" || cell.Line != 3 || fmt.Sprint(cell.Ranks) != "[1 2]" {
		t.Errorf("cell %+v", cell)
	}
	if got := c.Notebook(context.Background(), c.Request(":nosuch\nx = 2")); got != console.Failed || len(fake.Cells) != 1 {
		t.Errorf("outcome %v, %d cells", got, len(fake.Cells))
	}
}

// The cells of a file may begin with commands. A failing command ends the file.
func TestFile(t *testing.T) {
	c, fake, out := newConsole()
	r := c.Request("// %%\n:on 1,2\n\nx := 1\n// %% [markdown]\n// text\n// %%rank [0]\ny := 2\n// %%\n:nosuch\nz := 3\n// %%\nlast := 4\n")
	if got := c.File(context.Background(), r); got != console.Failed {
		t.Errorf("outcome %v: %s", got, out)
	}
	var got []string
	for _, cell := range fake.Cells {
		got = append(got, fmt.Sprintf("%d %v %q", cell.Line, cell.Ranks, cell.Source))
	}
	if want := []string{`4 [1 2] "x := 1"`, `8 [0] "y := 2\n"`}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
