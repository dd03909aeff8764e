package opspage

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// examples are the cells of the file of examples, by operation. An operation that shares its cell
// with one before it has the name of that one in shown.
type examples struct {
	cells map[string]string
	shown map[string]string
}

// readExamples reads the file of examples: cells below lines `// %% NAME, NAME…`, of which the
// first has no names and the code that all others need.
func readExamples(path string) (*examples, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	e := &examples{map[string]string{}, map[string]string{}}
	for _, cell := range strings.Split("\n"+string(text), "\n// %%")[1:] {
		title, code, _ := strings.Cut(cell, "\n")
		names := strings.Split(strings.TrimSpace(title), ", ")
		for _, name := range names {
			if name == "" {
				continue
			}
			if e.shown[name] != "" {
				return nil, fmt.Errorf("%s: two cells are examples of %s", path, name)
			}
			e.shown[name] = names[0]
		}
		e.cells[names[0]] = strings.TrimSpace(code)
	}
	return e, nil
}

// compare returns messages about operations that lack an example, and about examples of no
// operation.
func (e *examples) compare(ops []*operation) (wrong []string) {
	names := map[string]bool{}
	for _, op := range ops {
		names[op.name] = true
		if e.shown[op.name] == "" {
			wrong = append(wrong, fmt.Sprintf("%s: there is no example of %s", op.file, op.name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.shown)) {
		if !names[name] {
			wrong = append(wrong, fmt.Sprintf("an example is of %s, which is no operation", name))
		}
	}
	return wrong
}

// of returns the page's text for an operation's example, or "" if there is none.
func (e *examples) of(name string, anchors map[string]string) string {
	switch first := e.shown[name]; first {
	case "":
		return ""
	case name:
		return "\n```go\n" + e.cells[name] + "\n```\n"
	default:
		return fmt.Sprintf("- **Example:** that of [%s](%s)\n", first, anchors[key(first)])
	}
}
