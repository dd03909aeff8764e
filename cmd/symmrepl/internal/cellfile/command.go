package cellfile

import (
	"go/token"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/symmrepl/symmrepl/internal/gotokens"
)

// NextCommand returns the position of the first line of a cell's Go that is a command or a shell
// line, -1 if there is none. Such a line stands outside of brackets, comments and raw strings, and
// begins with '$', or with ':' or '%' before a letter; no line of Go begins so there.
func NextCommand(source string) int {
	for t := range gotokens.WithComments(source) {
		if commandAt(source, t) {
			return strings.LastIndexByte(source[:t.At], '\n') + 1
		}
	}
	return -1
}

// CommandEnd returns the length of a command with code at the beginning of text: the lines to the
// end of the statement that begins on the first line.
func CommandEnd(text string) int {
	for t := range gotokens.WithComments(text) {
		if t.IsNewline() && t.Depth == 0 {
			line, _, _ := strings.Cut(text[t.At:], "\n")
			return min(t.At+len(line)+1, len(text))
		}
	}
	return len(text)
}

// commandAt reports whether a token is the first of a line that is a command or a shell line.
func commandAt(text string, t gotokens.Token) bool {
	if t.Depth > 0 {
		return false
	}
	switch t.Kind {
	case token.REM, token.COLON:
		if r, _ := utf8.DecodeRuneInString(text[t.At+1:]); !unicode.IsLetter(r) {
			return false
		}
	case token.ILLEGAL:
		if text[t.At] != '$' {
			return false
		}
	default:
		return false
	}
	return strings.TrimSpace(text[strings.LastIndexByte(text[:t.At], '\n')+1:t.At]) == ""
}
