package session

import (
	"cmp"
	"strings"
)

// Text returns what the user entered as the cell.
func (c Cell) Text() string { return cmp.Or(c.Typed, c.Source) }

// Place returns where the user finds a position in Source: the line of Name, the column, and the
// line's text. Lines and columns count from 1, columns in bytes.
//
// Line n of Typed is line n of Source, but Source has more at two places: the first line of Typed is
// the end of the first line of Source, and lines may follow the last one. A position there becomes
// the beginning or the end of Typed.
func (c Cell) Place(line, column int) (userLine, userColumn int, text string) {
	lines := strings.Split(c.Text(), "\n")
	last := len(lines)
	if c.Typed == "" {
		last = max(last, line)
	}
	switch {
	case line > last:
		line, column = last, len(lines[last-1])+1
	case line == 1 && c.Typed != "":
		first, _, _ := strings.Cut(c.Source, "\n")
		column -= len(first) - len(lines[0])
	}
	if line >= 1 && line <= len(lines) {
		text = lines[line-1]
	}
	return max(c.Line, 1) + line - 1, max(column, 1), text
}
