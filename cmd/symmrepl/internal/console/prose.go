package console

import (
	"html"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
)

// FitText breaks a text between words to fit a number of columns; 0 leaves it unchanged.
// Declarations of Go and rows of tables keep their lines if these fit. Prose is filled, unless it
// fits.
func FitText(text string, columns int) string {
	if columns <= 0 {
		return text
	}
	blocks := strings.Split(text, "\n\n")
	for i, block := range blocks {
		if wider(block, columns) && isProse(block) {
			blocks[i] = render.Wrap(block, columns)
		}
	}
	return render.Fit(strings.Join(blocks, "\n\n"), columns)
}

// HTMLText returns a text as HTML: paragraphs of prose, which a front end fills, and other blocks as
// they are.
func HTMLText(text string) string {
	var b strings.Builder
	for block := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		begin, end := `<pre style="margin:0 0 1em;background:transparent">`, "</pre>\n"
		if isProse(block) {
			begin, end = "<p>", "</p>\n"
		}
		b.WriteString(begin + html.EscapeString(block) + end)
	}
	return b.String()
}

// isProse reports whether a block is a paragraph. A declaration is none, nor are code and rows of
// tables, which have indented lines or columns.
func isProse(block string) bool {
	if strings.Contains(block, "  ") || strings.Contains(block, "\t") || strings.HasPrefix(block, "//") || strings.HasSuffix(block, ";") {
		return false
	}
	word, _, _ := strings.Cut(block, " ")
	switch word {
	case "func", "type", "const", "var", "package":
		return false
	}
	return true
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
