package render

import (
	"go/scanner"
	"go/token"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// excerpt returns a line of source without its indentation, and a line with a caret below the byte
// at the 1-based column and a wave below the rest of the word there. The second line is empty if
// the column is not known.
func excerpt(source string, column int) (line, caret string) {
	line, at := locate(source, column)
	if at < 0 {
		return line, ""
	}
	return line, blank(line[:at]) + "^" + strings.Repeat("~", max(columns(word(line[at:]))-1, 0))
}

// locate returns the first line of source without its indentation, and the index in it of the
// character at the 1-based column, -1 if the column is not known.
func locate(source string, column int) (line string, at int) {
	source, _, _ = strings.Cut(source, "\n")
	source = strings.TrimRight(source, " \t\r\n")
	line = strings.TrimLeft(source, " \t")
	at = column - 1 - (len(source) - len(line))
	if line == "" || at < 0 || at > len(line) {
		return line, -1
	}
	for at < len(line) && !utf8.RuneStart(line[at]) {
		at--
	}
	return line, at
}

// blank returns white space as wide as text. It keeps tabs, so that they end at the same columns.
func blank(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\t' {
			b.WriteByte('\t')
			continue
		}
		b.WriteString(strings.Repeat(" ", RuneColumns(r)))
	}
	return b.String()
}

// word returns the identifier or literal at the beginning of text, or "".
func word(text string) string {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), []byte(text), func(token.Position, string) {}, 0)
	pos, tok, lit := s.Scan()
	if pos != 1 || !tok.IsLiteral() && !tok.IsKeyword() || tok == token.STRING && lit[0] == '`' {
		return ""
	}
	return lit
}

// columns returns the number of columns that text takes on a terminal.
func columns(text string) int {
	n := 0
	for _, r := range text {
		n += RuneColumns(r)
	}
	return n
}

// RuneColumns returns the number of columns of a character.
func RuneColumns(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cc, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
