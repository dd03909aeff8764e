package script

import (
	"strings"
)

// Cell is a piece of a file.
type Cell struct {
	Line   int    // of the file on which Source begins, from 1
	Ranks  string // a list such as "[0,2]", or ""
	Source string
}

// separator is how a line that begins a cell begins.
const separator = "// %%"

// Cells cuts a file into cells. Those without code (comments and build constraints only) are left out.
func Cells(text string) []Cell {
	var cells []Cell
	cell := Cell{Line: 1}
	var source strings.Builder
	end := func() {
		cell.Source = source.String()
		if hasCode(cell.Source) {
			cells = append(cells, cell)
		}
		source.Reset()
	}
	number := 0
	for line := range strings.Lines(text) {
		number++
		if title, ok := strings.CutPrefix(line, separator); ok {
			end()
			cell = Cell{Line: number + 1}
			if ranks, ok := strings.CutPrefix(title, "rank"); ok {
				cell.Ranks = strings.TrimSpace(ranks)
			}
			continue
		}
		source.WriteString(line)
	}
	end()
	return cells
}

// hasCode reports whether source has a line that is neither blank nor a line comment.
func hasCode(source string) bool {
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "//") {
			return true
		}
	}
	return false
}
