package cellfile

import (
	"bytes"
	"go/scanner"
	"go/token"
	"strings"
	"unicode"
	"unicode/utf8"
)

// NextCommand returns the position of the first line of a cell's Go that is a command or a shell
// line, -1 if there is none. Such a line stands outside of brackets, comments and raw strings, and
// begins with '$', or with ':' or '%' before a letter; no line of Go begins so there.
func NextCommand(source string) int {
	for s := newReader([]byte(source)); ; {
		switch at, tok := s.next(); {
		case tok == token.EOF:
			return -1
		case s.isCommand(at, tok):
			return strings.LastIndexByte(source[:at], '\n') + 1
		}
	}
}

// CommandEnd returns the length of a command with code at the beginning of text: the lines to the
// end of the statement that begins on the first line.
func CommandEnd(text string) int {
	for s := newReader([]byte(text)); ; {
		at, tok := s.next()
		switch {
		case tok == token.EOF, at == len(text):
			return len(text)
		case tok == token.SEMICOLON && s.depth == 0 && text[at] != ';': // that a newline stands for
			line, _, _ := strings.Cut(text[at:], "\n")
			return min(at+len(line)+1, len(text))
		}
	}
}

// reader reads the tokens of a text that need not be correct Go.
type reader struct {
	scanner.Scanner
	text  []byte
	file  *token.File
	depth int // brackets that are open
}

func newReader(text []byte) *reader {
	s := &reader{text: text, file: token.NewFileSet().AddFile("", -1, len(text))}
	s.Init(s.file, text, func(token.Position, string) {}, scanner.ScanComments)
	return s
}

// next returns the position of the next token, and the token.
func (s *reader) next() (at int, tok token.Token) {
	pos, tok, _ := s.Scan()
	switch tok {
	case token.LPAREN, token.LBRACK, token.LBRACE:
		s.depth++
	case token.RPAREN, token.RBRACK, token.RBRACE:
		s.depth = max(0, s.depth-1)
	}
	return s.file.Offset(pos), tok
}

// isCommand reports whether a token is the first of a line that is a command or a shell line.
func (s *reader) isCommand(at int, tok token.Token) bool {
	if s.depth > 0 || at == len(s.text) {
		return false
	}
	switch tok {
	case token.REM, token.COLON:
		if r, _ := utf8.DecodeRune(s.text[at+1:]); !unicode.IsLetter(r) {
			return false
		}
	case token.ILLEGAL:
		if s.text[at] != '$' {
			return false
		}
	default:
		return false
	}
	return len(bytes.TrimSpace(s.text[bytes.LastIndexByte(s.text[:at], '\n')+1:at])) == 0
}
