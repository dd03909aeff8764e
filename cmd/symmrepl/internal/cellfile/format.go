package cellfile

import (
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// header makes `go build` and editors treat the file as a separate program.
const header = `//go:build ignore

// A session of symmrepl. This runs it again: symmrepl run FILE
`

// Format writes the cells of a session as a file. Parse returns the cells that did not fail, apart
// from space at their ends and before comments that look like the beginning of a cell. Cells that
// failed become comments, with the reason.
func Format(cells []session.Cell) string {
	var b strings.Builder
	b.WriteString(header)
	for _, c := range cells {
		source := strings.Trim(Source(c), "\r\n")
		if c.Folder != "" && c.Failed == "" {
			b.WriteString("\n// " + source + "\n")
			continue
		}
		b.WriteString("\n" + separator)
		switch {
		case c.Failed != "":
			b.WriteString(" failed: " + strings.Map(printable, c.Failed) + "\n")
			source = commented(source)
		case c.Ranks != nil:
			b.WriteString("rank [" + session.FormatRanks(c.Ranks) + "]\n")
		default:
			b.WriteString("\n")
		}
		b.WriteString(indented(source) + "\n")
	}
	return b.String()
}

// Source returns the source of a cell as a user enters it. For a cell that changes the folder this
// is `%%cd "folder"`.
func Source(c session.Cell) string {
	if c.Folder == "" {
		return c.Source
	}
	return folderMagic + strconv.Quote(c.Folder)
}

// printable replaces control characters, so that a title stays on one line.
func printable(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
}

// commented turns all lines into comments.
func commented(source string) string {
	return "//\t" + strings.ReplaceAll(source, "\n", "\n//\t")
}

// indented puts a space before comments that look like the beginning of a cell.
func indented(source string) string {
	var b strings.Builder
	done := 0
	for _, at := range separators(source) {
		b.WriteString(source[done:at] + " ")
		done = at
	}
	return b.String() + source[done:]
}
