package console_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

func TestComplete(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"first.go", "fine.txt", ".hidden"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv("HOME", dir)
	for _, test := range []struct {
		entry string
		asked string // the question to the session
		want  string
		word  string
	}{
		{":to", "", "top topo", "to"},
		{"%his", "", "history", "his"},
		{"%%", "", "cd  compare cuda on rank [ sanitize time trace", ""},
		{"%%cu", "", "cuda", "cu"},
		{"%%r", "", "rank [", "r"},
		{"%%rank [0,", "", "0 1 2 3", ""},
		{":help ty", "", "type", "ty"},
		{":help :ty", "", "type", "ty"},
		{":on ", "", "0 1 2 3 all", ""},
		{":on 0,", "", "0 1 2 3 all", ""},
		{":on 0-3", "", "3", "3"},
		{":restart r", "", "replay", "r"},
		{":restart 1 re", "", "replay", "re"},
		{":history 1", "", "", "1"},
		{"$ ls", "", "", "ls"},
		{"$ cat f", "", "fine.txt first.go folder/", "f"},
		{"$ cat fi", "", "fine.txt first.go", "fi"},
		{"$ cat .", "", ".hidden", "."},
		{"$ cat ~/fir", "", "first.go", "fir"},
		{"$ cat <fir", "", "first.go", "fir"},
		{"$ ls " + dir + "/fo", "", "folder/", "fo"},
		{"$ ls nowhere/x", "", "", "x"},
		{"x := fmt.Pr", "x := fmt.Pr", "Printf Println", "Pr"},
		{":on 0,2 fmt.Pr", "fmt.Pr", "Printf Println", "Pr"},
		{":time fmt.Pr", "fmt.Pr", "Printf Println", "Pr"},
		{":ti fmt.Pr", "fmt.Pr", "Printf Println", "Pr"},
		{":time\nfmt.Pr", "fmt.Pr", "Printf Println", "Pr"},
		{":tr fmt.Pr", "fmt.Pr", "Printf Println", "Pr"},
		{":save! fi", "", "fine.txt first.go", "fi"},
		{":type fmt.Pr", "fmt.Pr", "Printf Println", "Pr"},
		{"%%rank [0]\nfmt.Pr", "fmt.Pr", "Printf Println", "Pr"},
		{"%%time -n 3\nfmt.Pr", "fmt.Pr", "Printf Println", "Pr"},
		{"%%cuda k -g 1\n#include <cuda/at", "_ = symm.Compile(`\n#include <cuda/at", "cuda/atomic", "cuda/at"},
		{"größePr", "größePr", "Printf Println", "größePr"},
		{"import \"math/r", "import \"math/r", "math/rand math/rand/v2", "math/r"},
		{"k := symm.Compile(`#include <cuda/at", "k := symm.Compile(`#include <cuda/at", "cuda/atomic", "cuda/at"},
		{"k := symm.Compile(`#include \"sy", "k := symm.Compile(`#include \"sy", "cuda/atomic", "sy"},
	} {
		c, fake, _ := newConsole()
		asked := ""
		fake.OnInspect = func(_ []int, q session.Query) []session.Answer {
			asked = q.Arg
			if strings.HasPrefix(q.Arg, "import") {
				return []session.Answer{{Candidates: []session.Candidate{{Name: "math/rand", Kind: "package"},
					{Name: "math/rand/v2", Kind: "package"}}}}
			}
			if strings.Contains(q.Arg, "#include") {
				return []session.Answer{{Candidates: []session.Candidate{{Name: "cuda/atomic", Kind: session.KindHeader}}}}
			}
			return []session.Answer{{Candidates: []session.Candidate{{Name: "Printf", Kind: "func"}, {Name: "Println", Kind: "func"}}}}
		}
		got, word := c.Complete(context.Background(), test.entry)
		var texts []string
		for _, candidate := range got {
			texts = append(texts, candidate.Name)
		}
		if strings.Join(texts, " ") != test.want || word != test.word || asked != test.asked {
			t.Errorf("%q: %q for %q, asked %q", test.entry, texts, word, asked)
		}
	}
}

func TestCompleteCommands(t *testing.T) {
	c, _, _ := newConsole()
	got, _ := c.Complete(context.Background(), ":")
	var texts []string
	for _, candidate := range got {
		texts = append(texts, candidate.Name)
	}
	want := c.CommandNames()
	slices.Sort(want)
	if !slices.Equal(texts, want) {
		t.Errorf("the commands are %q, want %q", texts, want)
	}
}

// TestCompleteTellsKinds checks that a completion keeps the kind and the type that the session
// reports.
func TestCompleteTellsKinds(t *testing.T) {
	c, fake, _ := newConsole()
	fake.OnInspect = func([]int, session.Query) []session.Answer {
		return []session.Answer{{Candidates: []session.Candidate{{Name: "Show", Kind: "method", Type: "func() string"},
			{Name: "x", Kind: "var"}}}}
	}
	got, _ := c.Complete(context.Background(), "b.")
	want := []session.Candidate{{Name: "Show", Kind: "method", Type: "func() string"}, {Name: "x", Kind: "var"}}
	if !slices.Equal(got, want) {
		t.Errorf("the candidates are %q, want %q", got, want)
	}
}
