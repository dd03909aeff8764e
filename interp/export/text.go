package export

import (
	"go/token"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/internal/gotokens"
)

// edit replaces the text from start to end of a cell's source.
type edit struct {
	start, end int
	text       string
}

// edits are the edits of one cell.
type edits []edit

func (e *edits) replace(start, end int, text string) { *e = append(*e, edit{start, end, text}) }

// apply returns source from start to end with the edits in this range.
func (e edits) apply(source string, start, end int) string {
	slices.SortStableFunc(e, func(a, b edit) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return a.end - b.end // insertions come first
	})
	var b strings.Builder
	at := start
	for _, x := range e {
		if x.start < at || x.end > end {
			continue
		}
		b.WriteString(source[at:x.start] + x.text)
		at = x.end
	}
	return b.String() + source[at:end]
}

// blocks returns the ranges of a cell's declarations with the comments that belong to them, and the
// ranges between.
func blocks(source string, outside [][2]int) (decls, between [][2]int) {
	lines := commentLines(source)
	at := 0
	for _, place := range outside {
		start, end := place[0], place[1]
		lineStart := strings.LastIndexByte(source[:start], '\n') + 1
		if strings.TrimSpace(source[lineStart:start]) == "" {
			for i := len(lines) - 1; i >= 0; i-- {
				if lines[i][0] >= at && lines[i][1] == lineStart {
					lineStart = lines[i][0]
				}
			}
			start = max(lineStart, at)
		}
		rest, _, _ := strings.Cut(source[end:], "\n")
		if strings.HasPrefix(strings.TrimLeft(rest, " \t;"), "//") {
			end += len(rest)
		} else if strings.Trim(rest, " \t;\r") == "" {
			end += len(rest)
		}
		decls = append(decls, [2]int{start, end})
		between = append(between, [2]int{at, start})
		at = end
	}
	return decls, append(between, [2]int{at, len(source)})
}

// commentLines returns the ranges of lines that contain only a comment.
func commentLines(source string) (lines [][2]int) {
	for t := range gotokens.WithComments(source) {
		start := strings.LastIndexByte(source[:t.At], '\n') + 1
		if t.Kind == token.COMMENT && strings.HasPrefix(t.Text, "//") && strings.TrimSpace(source[start:t.At]) == "" {
			line, _, _ := strings.Cut(source[start:], "\n")
			lines = append(lines, [2]int{start, start + len(line) + 1})
		}
	}
	return lines
}

// commented turns all lines into comments.
func commented(source string) string {
	return "//\t" + strings.ReplaceAll(strings.Trim(source, "\r\n"), "\n", "\n//\t") + "\n"
}
