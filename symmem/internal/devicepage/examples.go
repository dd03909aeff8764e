//go:build linux && (amd64 || arm64)

package devicepage

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

// The examples are cells: a title in the first line, the code, and the output behind "// Output:".
//
//go:embed examples/*.go.cell
var examples embed.FS

// example is a program of cells with its output on the cpu device.
type example struct{ title, code, output string }

// wholeExamples returns the programs of the page.
func wholeExamples() (list []example) {
	names, err := fs.Glob(examples, "examples/*.go.cell")
	if err != nil {
		panic(err) // the pattern is well-formed
	}
	for _, name := range names {
		text, err := examples.ReadFile(name)
		if err != nil {
			panic(err) // Glob found it
		}
		title, rest, _ := strings.Cut(string(text), "\n")
		code, output, _ := strings.Cut(rest, "// Output:\n")
		var lines []string
		for line := range strings.Lines(output) {
			lines = append(lines, strings.TrimPrefix(strings.TrimPrefix(strings.TrimRight(line, "\n"), "//"), " "))
		}
		list = append(list, example{strings.TrimPrefix(title, "// "), strings.TrimSpace(code) + "\n", strings.Join(lines, "\n") + "\n"})
	}
	return list
}

func writeExamples(b *strings.Builder) {
	b.WriteString("\n## Examples\n\nWhole cells for 4 ranks, with their output: `symmrepl run -n 4 FILE`.\n")
	for _, e := range wholeExamples() {
		fmt.Fprintf(b, "\n### %s\n\n```go\n%s```\n\n```text\n%s```\n", e.title, e.code, e.output)
	}
}
