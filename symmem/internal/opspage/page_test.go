package opspage

import (
	"go/doc/comment"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
)

// cells is the file of examples.
const cells = "../../../tutorials/operations.go"

// TestPage checks that the comments of all operations are complete, and that the page in docs is up
// to date.
func TestPage(t *testing.T) {
	page, missing, err := Page("../..", cells)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range missing {
		t.Error(m)
	}
	stored, err := os.ReadFile("../../../docs/ops.md")
	if err != nil {
		t.Fatal(err)
	}
	if page != string(stored) {
		t.Error("docs/ops.md is old: run go generate ./symmem/internal/opspage")
	}
}

// TestOptions checks that the comments name the options in package operators.
func TestOptions(t *testing.T) {
	ops, err := operations("../..")
	if err != nil {
		t.Fatal(err)
	}
	said := 0
	for _, op := range ops {
		row := rowOf(op.name)
		if row == nil {
			continue
		}
		said++
		taken := row.Options
		if strings.HasPrefix(op.name, "Handle.") {
			taken &^= operators.Group
		}
		named := taken
		if row.Manner == operators.Alone {
			named &^= operators.Group | operators.Timeout // which are accepted without effect
		}
		if got := optionsOf(t, ops, op); got&^taken != 0 || named&^got != 0 {
			t.Errorf("%s: the comment of %s names the options %v, operators has %v", op.file, op.name, got, taken)
		}
	}
	if said < len(operators.All) {
		t.Errorf("%d operations for %d rows", said, len(operators.All))
	}
}

var optionNames = regexp.MustCompile(`\*?[A-Z][A-Za-z0-9]+`)

// optionsOf returns the options that a comment names, also by "as [X], but not Y".
func optionsOf(t *testing.T, ops []*operation, op *operation) (named operators.Options) {
	t.Helper()
	p := op.facts["Options"]
	if p == nil {
		t.Fatalf("%s has no paragraph of options", op.name)
	}
	text, but := "", ""
	for _, part := range p.Text {
		switch part := part.(type) {
		case comment.Plain:
			text += string(part)
		case *comment.DocLink:
			i := slices.IndexFunc(ops, func(o *operation) bool {
				return o.name == strings.TrimPrefix(strings.TrimPrefix(part.Recv+"."+part.Name, "Runtime."), ".")
			})
			if i >= 0 && strings.HasSuffix(text, "as ") {
				named |= optionsOf(t, ops, ops[i])
			} else {
				text += part.Name
			}
		}
	}
	text, but, _ = strings.Cut(text, "but not")
	sorts := func(text string) (found operators.Options) {
		for _, word := range optionNames.FindAllString(text, -1) {
			(^operators.Options(0)).Each(func(sort operators.Options) {
				if strings.TrimPrefix(sort.String(), "a ") == word {
					found |= sort
				}
			})
		}
		return found
	}
	return (named | sorts(text)) &^ sorts(but)
}

// TestLinks checks that every link within the page leads to an operation on it.
func TestLinks(t *testing.T) {
	page, _, err := Page("../..", cells)
	if err != nil {
		t.Fatal(err)
	}
	var anchors []string
	for _, m := range regexp.MustCompile(`(?m)^### (.*)$`).FindAllStringSubmatch(page, -1) {
		anchors = append(anchors, strings.ToLower(strings.ReplaceAll(m[1], ".", "")))
	}
	links := regexp.MustCompile(`\]\(#?([^)]*)\)`).FindAllStringSubmatch(page, -1)
	for _, m := range links {
		if !slices.Contains(anchors, m[1]) && !strings.HasPrefix(m[1], "../") {
			t.Errorf("%s leads nowhere", m[0])
		}
	}
	if len(anchors) < 38 || len(links) < 50 {
		t.Errorf("%d operations, %d links", len(anchors), len(links))
	}
}

const example = `package symmem

// Twice doubles t; see [Handle.Half] and [Group].
//
//   - one
//
// PyTorch: mul_, as [Handle.Half]
//
// Shapes: any
func (rt *Runtime) Twice(t *Tensor, opts ...Option) {}

// Half halves.
//
// PyTorch: div_
//
// Shapes: any
//
// Synchronises: no
//
// Options: none
//
// Capture: yes
//
// Errors: none
//
// Back ends: cpu
func (h *Handle) Half(x, y int, opts ...Option) int { return 0 }

func (h *Handle) half(opts ...Option) {}

// Other takes no options.
func (rt *Runtime) Other(t *Tensor) {}

type (
	Runtime struct{}
	Handle  struct{}
	Group   struct{}
	Tensor  struct{}
	Option  any
)
`

// TestExample checks that labels become a list, links to operations lead to them, other links
// become names, operations get their examples, and missing and superfluous parts are reported.
func TestExample(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "memops.go"), []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "examples.cells")
	text := "// %%\nrank := 1\n\n// %% Twice, Thrice\nsymm.Twice(t)\n// [0] 2\n\n// %% Other, Handle.Half\nt\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	page, missing, err := Page(dir, file)
	if err != nil {
		t.Fatal(err)
	}
	const want = `
## Memory operations

### Twice

` + "```go\nsymm.Twice(t *Tensor, opts ...Option)\n```" + `

Twice doubles t; see [Handle.Half](#handlehalf) and Group.

  - one

- **PyTorch:** mul\_, as [Handle.Half](#handlehalf)
- **Shapes:** any

` + "```go\nsymm.Twice(t)\n// [0] 2\n```" + `

### Handle.Half

` + "```go\nh.Half(x, y int, opts ...Option) int\n```" + `

Half halves.

- **PyTorch:** div\_
- **Shapes:** any
- **Synchronises:** no
- **Options:** none
- **Capture:** yes
- **Errors:** none
- **Back ends:** cpu
- **Example:** that of [Other]()
`
	if got := strings.TrimPrefix(page, intro); got != want {
		t.Errorf("page:\n%s", got)
	}
	wantMissing := []string{
		`memops.go: the comment of Twice has no paragraph that begins with "Synchronises:"`,
		`memops.go: the comment of Twice has no paragraph that begins with "Options:"`,
		`memops.go: the comment of Twice has no paragraph that begins with "Capture:"`,
		`memops.go: the comment of Twice has no paragraph that begins with "Errors:"`,
		"an example is of Other, which is no operation",
		"an example is of Thrice, which is no operation",
	}
	if !slices.Equal(missing, wantMissing) {
		t.Errorf("missing:\n%s", strings.Join(missing, "\n"))
	}
}

// TestExamplesPrint checks that the comments in the examples are what they print, which the tests of
// the program compare with the file beside them.
func TestExamplesPrint(t *testing.T) {
	text, err := os.ReadFile(cells)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.ReadFile(strings.TrimSuffix(cells, ".go") + ".out")
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for _, m := range regexp.MustCompile(`(?m)^// (\[[0-9,-]+\] .*\n)`).FindAllStringSubmatch(string(text), -1) {
		said.WriteString(m[1])
	}
	if said.String() != string(out) {
		t.Errorf("the comments of %s say\n%s\nit prints\n%s", cells, &said, out)
	}
}

// TestPyTorchNames checks that the page has one row for each name of PyTorch's symmetric memory,
// which pytorch.txt lists.
func TestPyTorchNames(t *testing.T) {
	text, err := os.ReadFile("pytorch.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{} // by name, of those listed
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		if _, twice := rows[words[0]]; twice || len(words) > 2 || len(words) == 2 && words[1] != "later" {
			t.Errorf("pytorch.txt: %q", line)
		}
		rows[words[0]] = 0
	}
	_, section, found := strings.Cut(intro, "\n## From PyTorch, name by name\n")
	if !found || len(rows) < 80 {
		t.Fatalf("the section is there: %v; %d names are listed", found, len(rows))
	}
	name := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		first, here, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		for _, m := range name.FindAllStringSubmatch(first, -1) {
			if _, listed := rows[m[1]]; !listed {
				t.Errorf("pytorch.txt has no %s", m[1])
			}
			rows[m[1]]++
		}
		if here = strings.TrimSuffix(here, " |\n"); here == "" || here == "none" {
			t.Errorf("%s: nothing is said of it", first)
		}
	}
	for n, count := range rows {
		if count != 1 {
			t.Errorf("%d rows have %s, want one", count, n)
		}
	}
}
