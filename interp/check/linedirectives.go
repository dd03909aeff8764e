package check

import (
	"cmp"
	"go/scanner"
	"go/token"
	"regexp"
)

// A //line or /*line comment sets the file and line of the following text for package runtime and
// loggers. Errors of cells still report the place that the user sees.

var lineDirective = regexp.MustCompile(`(?m)^//line |/\*line `)

// Directed returns the file and the line that a line directive of the cell gives to pos. File is ""
// if the directive does not change it. Ok is false if no directive applies.
func (c *Text) Directed(pos token.Pos) (file string, line int, ok bool) {
	source := c.cell.Source
	row, column, ok := c.Position(pos)
	if !ok || !lineDirective.MatchString(source) {
		return "", 0, false
	}
	const unnamed = "??" // Go's name for the file of //line :1
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
