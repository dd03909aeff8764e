package cudalex

import (
	"fmt"
	"strings"
)

// Kind is the kind of a piece of text.
type Kind uint8

// The kinds of pieces. Tokens returns the first four.
const (
	Word    Kind = iota // identifier or keyword
	Number              // preprocessing number
	Literal             // string or character literal, with its prefix and quotes
	Punct               // one character, except "::", "->", "[[" and "]]"
	Space               // a newline, or blanks and continued lines
	Comment             // without the newline that ends it
	// a preprocessor line, with continued lines and comments, without the newline at its end
	Directive
	Excluded // a line that the preprocessor excludes, without its newline
)

// Piece is a piece of text.
type Piece struct {
	Kind Kind
	Text string
	Line int // line of its beginning, 1-based
	At   int // offset of its beginning, in bytes
}

// Error describes text that cannot be parsed further.
type Error struct {
	Line int // 1-based, of the text given
	Msg  string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

// lexer splits a text into pieces, which together are the whole text.
type lexer struct {
	src      string
	pos      int
	line     int
	bol      bool // the line so far has only blanks and comments: a '#' begins a directive
	branches branches
}

func newLexer(src string, known Known) *lexer {
	return &lexer{src: src, line: 1, bol: true, branches: branches{known: known}}
}

// next returns the next piece; ok is false at the end. An error says that the returned piece is not
// terminated; the piece ends where lexing can continue.
func (l *lexer) next() (p Piece, ok bool, err error) {
	if l.pos == len(l.src) {
		return Piece{}, false, nil
	}
	kind, n, msg := l.measure()
	p = Piece{kind, l.src[l.pos : l.pos+n], l.line, l.pos}
	if msg != "" {
		err = &Error{Line: l.line, Msg: msg}
	}
	l.line += strings.Count(p.Text, "\n")
	l.pos += n
	switch kind {
	case Space:
		l.bol = l.bol || p.Text == "\n"
	case Comment:
	case Directive:
		l.bol = false
		l.branches.step(p.Text)
	default:
		l.bol = false
	}
	return p, true, err
}

// measure returns the kind and the length of the piece at the current position, and an error
// message if it is not terminated.
func (l *lexer) measure() (kind Kind, n int, msg string) {
	rest := l.src[l.pos:]
	switch {
	case rest[0] == '\n':
		return Space, 1, ""
	case blanks(rest) > 0:
		return Space, blanks(rest), ""
	case l.bol && l.branches.excluded() && !isConditional(rest):
		return Excluded, lineLen(rest), ""
	case rest[0] == '#' && l.bol:
		return Directive, directiveLen(rest), ""
	case strings.HasPrefix(rest, "//"):
		return Comment, lineLen(rest), ""
	case strings.HasPrefix(rest, "/*"):
		if end := strings.Index(rest[2:], "*/"); end >= 0 {
			return Comment, end + 4, ""
		}
		return Comment, len(rest), "comment is not closed"
	}
	return code(rest)
}

// blanks returns the length of the blanks and continued lines at the beginning of text.
func blanks(text string) int {
	n := 0
	for n < len(text) {
		if strings.IndexByte(" \t\r\f\v", text[n]) >= 0 {
			n++
		} else if s := splice(text[n:]); s > 0 {
			n += s
		} else {
			break
		}
	}
	return n
}

// splice returns the length of a backslash and newline at the beginning of text, or 0.
func splice(text string) int {
	switch {
	case strings.HasPrefix(text, "\\\n"):
		return 2
	case strings.HasPrefix(text, "\\\r\n"):
		return 3
	}
	return 0
}

// lineLen returns the length up to the newline that ends the logical line.
func lineLen(text string) int {
	n := 0
	for n < len(text) && text[n] != '\n' {
		n += max(1, splice(text[n:]))
	}
	return n
}

func directiveLen(text string) int {
	n := 1
	for n < len(text) && text[n] != '\n' {
		rest := text[n:]
		if strings.HasPrefix(rest, "//") {
			return n + lineLen(rest)
		}
		if strings.HasPrefix(rest, "/*") {
			if end := strings.Index(rest[2:], "*/"); end >= 0 {
				n += end + 4
				continue
			}
		}
		n += max(1, splice(rest))
	}
	return n
}

// isConditional reports whether text begins with a directive that opens, changes or closes a branch.
func isConditional(text string) bool {
	if text[0] != '#' {
		return false
	}
	name, _ := split(text[:directiveLen(text)])
	switch name {
	case "if", "ifdef", "ifndef", "elif", "else", "endif":
		return true
	}
	return false
}

// code measures a token.
func code(rest string) (kind Kind, n int, msg string) {
	c := rest[0]
	switch {
	case isLetter(c):
		for n = 1; n < len(rest) && (isLetter(rest[n]) || isDigit(rest[n])); {
			n++
		}
		if n == len(rest) || rest[n] != '"' && rest[n] != '\'' || !isPrefix(rest[:n]) {
			return Word, n, ""
		}
		length := quotedLen
		if rest[n] == '"' && rest[n-1] == 'R' {
			length = rawLen
		}
		m, msg := length(rest[n:])
		return Literal, n + m, msg
	case isDigit(c) || c == '.' && len(rest) > 1 && isDigit(rest[1]):
		return Number, numberLen(rest), ""
	case c == '"' || c == '\'':
		n, msg = quotedLen(rest)
		return Literal, n, msg
	}
	for _, p := range [...]string{"::", "->", "[[", "]]"} {
		if strings.HasPrefix(rest, p) {
			return Punct, 2, ""
		}
	}
	return Punct, 1, ""
}

// quotedLen measures a string or character literal; an unterminated one ends with its line.
func quotedLen(text string) (n int, msg string) {
	for n = 1; n < len(text); n++ {
		switch text[n] {
		case '\\':
			n++
		case '\n':
			return n, "literal is not closed"
		case text[0]:
			return n + 1, ""
		}
	}
	return len(text), "literal is not closed"
}

// rawLen measures `"delimiter(…)delimiter"`.
func rawLen(text string) (n int, msg string) {
	open := strings.IndexByte(text, '(')
	if open < 1 || open > 17 {
		return len(text), "raw string has no '('"
	}
	closing := ")" + text[1:open] + `"`
	end := strings.Index(text[open:], closing)
	if end < 0 {
		return len(text), "raw string is not closed"
	}
	return open + end + len(closing), ""
}

func numberLen(text string) int {
	n := 1
	for n < len(text) {
		c := text[n]
		switch {
		case isLetter(c), isDigit(c), c == '.':
		case c == '\'' && n+1 < len(text) && (isLetter(text[n+1]) || isDigit(text[n+1])):
		case (c == '+' || c == '-') && strings.IndexByte("eEpP", text[n-1]) >= 0:
		default:
			return n
		}
		n++
	}
	return n
}

func isPrefix(s string) bool {
	switch s {
	case "L", "u", "U", "u8", "R", "LR", "uR", "UR", "u8R":
		return true
	}
	return false
}

func isLetter(c byte) bool {
	return c == '_' || c == '$' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
