package check

import (
	"cmp"
	"go/scanner"
	"go/token"
	"regexp"
)

// A //line or /*line comment says in which file and line the text after it is, to package runtime and loggers. Errors of cells stay where the user sees them.

var lineDirective = regexp.MustCompile(`(?m)^//line |/\*line `)

// Directed returns the file and the line that a line directive of the cell gives to pos. The file is "" if it leaves that as it is. It is not ok if none gives any.
func (c *Text) Directed(pos token.Pos) (file string, line int, ok bool) {
	source := c.cell.Source
	row, column, ok := c.Position(pos)
	if !ok || !lineDirective.MatchString(source) {
		return "", 0, false
	}
	const unnamed = "??" // what Go calls the file of //line :1
	f := token.NewFileSet().AddFile(FileName, -1, len(source))
	var s scanner.Scanner
	s.Init(f, []byte(source), nil, 0)
	for tok := token.ILLEGAL; tok != token.EOF; {
		_, tok, _ = s.Scan()
	}
	p := f.Position(f.LineStart(row) + token.Pos(column-1))
	if p.Filename == FileName {
		return "", p.Line, p.Line != row
	}
	return cmp.Or(p.Filename, unnamed), p.Line, true
}
