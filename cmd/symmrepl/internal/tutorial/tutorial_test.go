package tutorial

import (
	"bytes"
	"encoding/base64"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial/drawing"
)

const sample = `//go:build ignore

// About it.
// More.

// %% [markdown]
// # Title
//
//     code
// %% One.

x := 1

// %% [exercise] Two
// Make it 2.
// %% [start]
x = 1
// %% [hint]
// Add 1.
// %% [hint]
// 1 + 1.
// %% [solution]
x = 2
// %% [check]
check(x)
// %% [markdown]
// Read on.
`

func TestParse(t *testing.T) {
	got, err := Parse("00-sample.go", sample)
	if err != nil {
		t.Fatal(err)
	}
	cell := func(line int, title, source string) Cell {
		return Cell{File: "00-sample.go", Line: line, Title: title, Source: source}
	}
	one := cell(12, "One.", "x := 1")
	want := Lesson{Name: "00-sample", Title: "About it.", Steps: []Step{
		{Text: "# Title\n\n    code", Cell: &one},
		{Exercise: &Exercise{
			Title: "Two", Task: "Make it 2.", Start: cell(17, "", "x = 1"), Hints: []string{"Add 1.", "1 + 1."},
			Solution: cell(23, "", "x = 2"), Check: cell(25, "", "check(x)"),
		}},
		{Text: "Read on."},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, test := range map[string]struct{ old, new, want string }{
		"no head":      {"// About it.\n// More.\n", "", "a comment with a line about it"},
		"no heading":   {"# Title", "Title", "no heading"},
		"no check":     {"// %% [check]\ncheck(x)\n", "", "00-sample.go:24: the exercise \"Two\" has no [check] yet"},
		"no hint":      {"// %% [hint]\n// Add 1.\n// %% [hint]\n// 1 + 1.\n", "", "00-sample.go:20: the exercise \"Two\" needs"},
		"no exercise":  {"// %% [exercise] Two\n", "", "00-sample.go:15: [start] belongs to an exercise"},
		"unknown kind": {"[markdown]\n// # T", "[text]\n// # T", "00-sample.go:6: there are no cells of the kind [text]"},
		"ranks":        {"// %% One.", "// %%rank [0]", "00-sample.go:10: a cell of a tutorial is for all ranks"},
		"no end":       {"// %% [markdown]\n// Read on.\n", "", "a text that names the next lesson"},
	} {
		_, err := Parse("00-sample.go", strings.Replace(sample, test.old, test.new, 1))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}

// The tutorials are listed in the order of their numbers.
func TestOrder(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range all {
		number, _, _ := strings.Cut(l.Name, "-")
		names = append(names, number)
	}
	if got, want := strings.Join(names, " "), "01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestLinked(t *testing.T) {
	names := map[string]string{"02": "02-second", "12": "12-last"}
	text := "Read on: `:tutorial 02`, or tutorial 12.\nTutorial 02 is in `symmrepl tutorial 02 -n 4`, tutorial 99 is not.\n    :tutorial 02\n"
	want := "Read on: [tutorial 02](02-second.ipynb), or [tutorial 12](12-last.ipynb).\n" +
		"[Tutorial 02](02-second.ipynb) is in `symmrepl tutorial 02 -n 4`, tutorial 99 is not.\n    :tutorial 02\n"
	if got := linked(text, names); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A picture stands in a notebook in place of the one in letters, which a terminal shows with its name.
func TestPicturesInTexts(t *testing.T) {
	const text = "Before.\n\n![Ranks & a ring](picture:ring)\n\n    0 ──> 1\n\n    1 ──> 0\n\nAfter.\n\n    code\n![End](picture:packet)"
	if got, want := strings.Join(Pictures(text), " "), "ring packet"; got != want {
		t.Errorf("the pictures %s, want %s", got, want)
	}
	plain := "Before.\n\nPicture ring in the notebook: Ranks & a ring\n\n    0 ──> 1\n\n    1 ──> 0\n\nAfter.\n\n    code\nPicture packet in the notebook: End\n"
	if got := Plain(text); got != plain {
		t.Errorf("a terminal shows\n%q\nwant\n%q", got, plain)
	}
	got, err := pictured(text)
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`base64,[A-Za-z0-9+/]+=*`).ReplaceAllString(got, "base64,…")
	want := "Before.\n\n<img alt=\"Ranks &amp; a ring\" src=\"data:image/svg+xml;base64,…\">\n\n*Ranks & a ring*\n\nAfter.\n\n    code\n" +
		"<img alt=\"End\" src=\"data:image/svg+xml;base64,…\">\n\n*End*\n"
	if shown != want {
		t.Errorf("a notebook shows\n%q\nwant\n%q", shown, want)
	}
	svg, err := drawing.SVG("ring")
	if err != nil || !strings.Contains(got, base64.StdEncoding.EncodeToString([]byte(svg))) {
		t.Errorf("the ring is not in the notebook: %v", err)
	}
	if _, err := pictured("![No](picture:nosuch)"); err == nil || !strings.Contains(err.Error(), `no picture "nosuch"`) {
		t.Error(err)
	}
}

// Every tutorial has a picture, and every picture is in a tutorial.
func TestPicturesOfTutorials(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, l := range all {
		count := 0
		for _, s := range l.Steps {
			texts := []string{s.Text}
			if s.Exercise != nil {
				texts = append(texts, s.Exercise.Task)
			}
			for _, text := range texts {
				for _, name := range Pictures(text) {
					if _, err := drawing.SVG(name); err != nil {
						t.Errorf("%s: %v", l.Name, err)
					}
					used[name] = true
					count++
				}
				if strings.Count(text, "](picture:") != len(Pictures(text)) {
					t.Errorf("%s: a picture stands in a line of its own:\n%s", l.Name, text)
				}
			}
		}
		if count == 0 {
			t.Errorf("%s has no picture", l.Name)
		}
	}
	if got, want := slices.Sorted(maps.Keys(used)), drawing.Names(); !slices.Equal(got, want) {
		t.Errorf("the tutorials show %q, and there are %q", got, want)
	}
}

func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"01": "01-hello-ranks", "1": "01-hello-ranks", "hello": "01-hello-ranks", "01-hello-ranks": "01-hello-ranks",
	} {
		if got, err := Find(name); err != nil || got.Name != want {
			t.Errorf("%s: %s, %v", name, got.Name, err)
		}
	}
	if _, err := Find("nothing"); err == nil || !strings.Contains(err.Error(), `no tutorial is called "nothing"`) {
		t.Error(err)
	}
	if _, err := Find("0"); err == nil || !strings.Contains(err.Error(), "may be 01-") {
		t.Error(err)
	}
}

func TestProgress(t *testing.T) {
	dir := t.TempDir()
	p := ReadProgress(dir)
	r := p["01"]
	r.Step = 3
	r.Solve("a")
	r.Solve("a")
	p["01"] = r
	if err := p.Write(dir); err != nil {
		t.Fatal(err)
	}
	if got, want := ReadProgress(dir), (Progress{"01": {3, []string{"a"}}}); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "tutorials.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ReadProgress(dir); len(got) != 0 {
		t.Errorf("a broken file gives the progress %v", got)
	}
}

// A check is known by its source, with or without its title, and with the lines that an editor adds.
func TestSolvedBy(t *testing.T) {
	lesson, err := Find("02")
	if err != nil {
		t.Fatal(err)
	}
	e := lesson.Exercises()[1]
	for source, want := range map[string]bool{
		e.Check.Source: true, "\n" + e.Check.Code() + "\n\n": true,
		e.Start.Source: false, e.Check.Source + "\nx := 1": false, `fmt.Println("correct")`: false,
	} {
		name, title, ok := SolvedBy(source)
		if ok != want || ok && (name != lesson.Name || title != e.Title) {
			t.Errorf("%q, %q, %v, want %v of\n%s", name, title, ok, want, source)
		}
	}
}

// The overview counts the exercises that are solved, links to the notebooks, and says where to go on.
func TestOverview(t *testing.T) {
	check := func(title string) Step { return Step{Exercise: &Exercise{Title: title}} }
	lessons := []Lesson{
		{Name: "01-one", Title: "One: the first.", Steps: []Step{check("a"), check("b")}},
		{Name: "02-two", Title: "Two: the second.", Steps: []Step{check("a")}},
	}
	const head = "| Lesson | | Solved |\n|---|---|---|\n"
	for _, test := range []struct {
		progress Progress
		want     string
	}{
		{Progress{}, head + "| [01 One](01-one.ipynb) | the first. | 0 of 2 |\n| [02 Two](02-two.ipynb) | the second. | 0 of 1 |\n\n" +
			"0 of 3 exercises are solved. Go on with lesson [01](01-one.ipynb)."},
		{Progress{"01-one": {Solved: []string{"b", "an earlier one", "a"}}}, head + "| [01 One](01-one.ipynb) | the first. | 2 of 2 ✓ |\n" +
			"| [02 Two](02-two.ipynb) | the second. | 0 of 1 |\n\n2 of 3 exercises are solved. Go on with lesson [02](02-two.ipynb)."},
		{Progress{"01-one": {Solved: []string{"b", "a"}}, "02-two": {Solved: []string{"a"}}}, head + "| [01 One](01-one.ipynb) | the first. | 2 of 2 ✓ |\n" +
			"| [02 Two](02-two.ipynb) | the second. | 1 of 1 ✓ |\n\n3 of 3 exercises are solved."},
	} {
		if got := Overview(lessons, test.progress); got != test.want {
			t.Errorf("%s\nwant\n%s", got, test.want)
		}
	}
}

func TestRecording(t *testing.T) {
	r := Recording{{{Stdout, "[0] a\n[1] b\n"}, {Value, "[0-1] 1\n"}}, nil, {{Error + " panic", "[0] c\n"}}}
	got, err := ParseRecording(r.Format())
	if err != nil || !reflect.DeepEqual(got, r) {
		t.Errorf("%q, %v", got, err)
	}
	for _, text := range []string{"[0] a\n", "== 2\n", "== 1\n[0] a\n"} {
		if r, err := ParseRecording(text); err == nil {
			t.Errorf("%q is %q", text, r)
		}
	}
}

// The notebooks are up to date with the tutorials.
func TestNotebooksAreFresh(t *testing.T) {
	files, err := Notebooks()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join("../../../../notebooks", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is out of date (%v): run `go generate .` at the top of the repository", name, err)
		}
	}
}

func TestNotebook(t *testing.T) {
	lesson, err := Parse("00-sample.go", sample)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lesson.Notebook(Recording{}); err == nil {
		t.Error("a recording that lacks cells is accepted")
	}
	shown := Shown{{Stdout, "[0-3] a\n"}, {Value, "[0] 1\n[1] 2\n"}}
	text, err := lesson.Notebook(Recording{shown, nil, {{Error + " panic",
		"[0-3] 00-sample.go:25:1: panic: no\n[0-3]     check(x)\n[0] 00-sample.go:17:3: panic: yes\n"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"source": [
    "// One.\n",
    "x := 1"
   ]`,
		`"text/plain": [
       "[0] 1\n",
       "[1] 2"
      ]`,
		`"evalue": "[0-3] In[3]:1:1: panic: no"`,
		`"[0-3] In[3]:1:1: panic: no\n    check(x)\n[0] In[2]:1:3: panic: yes"`,
		`"metadata": {
    "jupyter": {
     "source_hidden": true
    },
    "tags": [
     "raises-exception"
    ]
   },`,
		`"id": "00-sample-2"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks\n%s", text, want)
		}
	}
}
