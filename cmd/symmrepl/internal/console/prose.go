package console

import (
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
)

// FitDocumentation breaks the prose of a documentation between words, so that it fits into some columns; 0 leaves it as it is. Declarations
// keep their lines, and so does a text that fits.
func FitDocumentation(text string, columns int) string {
	if columns <= 0 {
		return text
	}
	blocks := strings.Split(text, "\n\n")
	for i, block := range blocks {
		if i > 0 && wider(block, columns) && !strings.HasPrefix(block, "func ") && !strings.HasPrefix(block, "type ") {
			blocks[i] = render.Wrap(block, columns)
		}
	}
	return strings.Join(blocks, "\n\n")
}

// wider reports whether a line of text has more than some columns.
func wider(text string, columns int) bool {
	for line := range strings.Lines(text) {
		if len([]rune(strings.TrimSuffix(line, "\n"))) > columns {
			return true
		}
	}
	return false
}
