package signature

import (
	"fmt"
	"strings"
)

// Error is text that cannot be read further.
type Error struct {
	Line int // 1-based, of the text given to Parse
	Msg  string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

type kind uint8

const (
	word    kind = iota // identifier or keyword
	number              // preprocessing number
	literal             // string or character literal, text includes the quotes
	punct               // one character, except "::", "->" and "[[" "]]" which are whole
)

type token struct {
	kind kind
	text string
	line int
}

// scanner cuts text into tokens and drops everything that is not code.
type scanner struct {
	src  string
	pos  int
	line int
	bol  bool // only white space since the line began: a '#' is a directive
}

func scan(src string) ([]token, error) {
	s := &scanner{src: src, line: 1, bol: true}
	var toks []token
	for {
		t, ok, err := s.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			return toks, nil
		}
		toks = append(toks, t)
	}
}

func (s *scanner) fail(line int, msg string) error { return &Error{Line: line, Msg: msg} }

func (s *scanner) has(prefix string) bool { return strings.HasPrefix(s.src[s.pos:], prefix) }

// advance moves n bytes on and counts the lines passed.
func (s *scanner) advance(n int) string {
	text := s.src[s.pos : s.pos+n]
	s.line += strings.Count(text, "\n")
	s.pos += n
	return text
}

// next returns the next token; ok is false at the end.
func (s *scanner) next() (t token, ok bool, err error) {
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		switch {
		case c == '\n':
			s.advance(1)
			s.bol = true
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			s.pos++
			continue
		case s.splice() > 0:
			s.advance(s.splice())
			continue
		case s.has("//"):
			s.skipLine()
			continue
		case s.has("/*"):
			if err := s.skipComment(); err != nil {
				return token{}, false, err
			}
			continue
		case c == '#' && s.bol:
			if err := s.directive(); err != nil {
				return token{}, false, err
			}
			continue
		}
		s.bol = false
		line := s.line
		k, n, err := s.measure()
		if err != nil {
			return token{}, false, err
		}
		return token{k, s.advance(n), line}, true, nil
	}
	return token{}, false, nil
}

// splice returns the length of a backslash-newline at the current position, or 0.
func (s *scanner) splice() int {
	switch {
	case s.has("\\\n"):
		return 2
	case s.has("\\\r\n"):
		return 3
	}
	return 0
}

// skipLine moves to the newline that ends the logical line.
func (s *scanner) skipLine() {
	for s.pos < len(s.src) && s.src[s.pos] != '\n' {
		s.advance(max(1, s.splice()))
	}
}

func (s *scanner) skipComment() error {
	end := strings.Index(s.src[s.pos+2:], "*/")
	if end < 0 {
		return s.fail(s.line, "comment is not closed")
	}
	s.advance(end + 4)
	return nil
}

// directive steps over a preprocessor line, and over all of `#if 0` up to its #else, #elif or #endif.
func (s *scanner) directive() error {
	off := s.directiveText()
	if !isIfZero(off) {
		return nil
	}
	for depth := 1; s.pos < len(s.src); {
		s.advance(1) // the newline
		for s.pos < len(s.src) && strings.IndexByte(" \t\r", s.src[s.pos]) >= 0 {
			s.pos++
		}
		if s.pos >= len(s.src) || s.src[s.pos] != '#' {
			s.skipLine()
			continue
		}
		name, _, _ := strings.Cut(s.directiveText(), " ")
		switch name {
		case "if", "ifdef", "ifndef":
			depth++
		case "endif":
			if depth--; depth == 0 {
				return nil
			}
		case "else", "elif":
			if depth == 1 {
				return nil
			}
		}
	}
	return nil
}

// directiveText consumes a directive and returns it in canonical spacing, without the '#'.
func (s *scanner) directiveText() string {
	start := s.pos + 1
	for s.pos < len(s.src) && s.src[s.pos] != '\n' {
		if s.has("//") {
			text := s.src[start:s.pos]
			s.skipLine()
			return strings.Join(strings.Fields(text), " ")
		}
		if s.has("/*") && s.skipComment() == nil {
			continue
		}
		s.advance(max(1, s.splice()))
	}
	return strings.Join(strings.Fields(s.src[min(start, s.pos):s.pos]), " ")
}

func isIfZero(directive string) bool {
	f := strings.Fields(directive)
	return len(f) >= 2 && f[0] == "if" && f[1] == "0" && (len(f) == 2 || strings.HasPrefix(f[2], "/"))
}

// measure returns the kind and length of the token at the current position.
func (s *scanner) measure() (kind, int, error) {
	rest := s.src[s.pos:]
	c := rest[0]
	switch {
	case isLetter(c):
		n := 1
		for n < len(rest) && (isLetter(rest[n]) || isDigit(rest[n])) {
			n++
		}
		if n < len(rest) && (rest[n] == '"' || rest[n] == '\'') && isPrefix(rest[:n]) {
			if rest[n] == '"' && rest[n-1] == 'R' {
				m, err := s.rawString(rest[n:])
				return literal, n + m, err
			}
			m, err := s.quoted(rest[n:])
			return literal, n + m, err
		}
		return word, n, nil
	case isDigit(c) || c == '.' && len(rest) > 1 && isDigit(rest[1]):
		return number, numberLen(rest), nil
	case c == '"' || c == '\'':
		n, err := s.quoted(rest)
		return literal, n, err
	}
	for _, p := range [...]string{"::", "->", "[[", "]]"} {
		if strings.HasPrefix(rest, p) {
			return punct, 2, nil
		}
	}
	return punct, 1, nil
}

// quoted measures a string or character literal that begins text.
func (s *scanner) quoted(text string) (int, error) {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '\n':
			return 0, s.fail(s.line, "literal is not closed")
		case text[0]:
			return i + 1, nil
		}
	}
	return 0, s.fail(s.line, "literal is not closed")
}

// rawString measures `"delimiter(…)delimiter"`.
func (s *scanner) rawString(text string) (int, error) {
	open := strings.IndexByte(text, '(')
	if open < 1 || open > 17 {
		return 0, s.fail(s.line, "raw string has no '('")
	}
	closing := ")" + text[1:open] + `"`
	end := strings.Index(text[open:], closing)
	if end < 0 {
		return 0, s.fail(s.line, "raw string is not closed")
	}
	return open + end + len(closing), nil
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
