package session

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
)

// Text returns the cell's text as the user entered it.
func (c Cell) Text() string { return cmp.Or(c.Typed, c.Source) }

// Place returns the position at which the user finds a position in Source: the line of Name, the
// column, and the line's text. Lines and columns count from 1, columns in bytes.
//
// Line n of Typed is line n of Source, but Source has more at two places: the first line of Typed
// is the end of the first line of Source, and lines may follow the last one. A position there
// becomes the beginning or the end of Typed. If Source is made from the first line of Typed, as
// from %%cuda, a position at either place becomes the position of the same word in that line.
func (c Cell) Place(line, column int) (userLine, userColumn int, text string) {
	lines := strings.Split(c.Text(), "\n")
	last := len(lines)
	if c.Typed == "" {
		last = max(last, line)
	}
	switch {
	case strings.HasPrefix(c.Typed, "%%") && (line == 1 || line > last):
		column, line = wordIn(lines[0], c.Source, line, column), 1
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

// wordIn returns the column in made of the word that is at a position of source, or 1 if there is none.
// Words of the end of made count first.
func wordIn(made, source string, line, column int) int {
	lines := strings.Split(source, "\n")
	if line > len(lines) || column < 1 || column > len(lines[line-1]) {
		return 1
	}
	rest := lines[line-1][column-1:]
	end := strings.IndexFunc(rest, func(r rune) bool { return !isWord(r) })
	if end < 0 {
		end = len(rest)
	}
	word := rest[:end]
	for at := len(made) - len(word); word != "" && at >= 0; at-- {
		before, after := made[:at], made[at:]
		if rest, ok := strings.CutPrefix(after, word); ok && !strings.ContainsFunc(ends(before, rest), isWord) {
			return at + 1
		}
	}
	return 1
}

// ends returns the last byte of one text and the first of another.
func ends(a, b string) string { return a[max(len(a)-1, 0):] + b[:min(len(b), 1)] }

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// OwnName returns the name in positions of a cell that no front end has named.
func (c Cell) OwnName() string { return fmt.Sprintf("cell[%d]", c.ID) }

// Title returns the name of a cell in messages: the front end's name, such as In[3], or the cell's
// number.
func (c Cell) Title() string {
	switch {
	case c.Name == "", c.Name == c.OwnName():
		return fmt.Sprintf("cell %d", c.ID)
	case c.Line > 1:
		return fmt.Sprintf("%s:%d", c.Name, c.Line)
	}
	return c.Name
}
