package ptx

import (
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
)

// Statements returns the distinct asm statements of a preprocessed text that Rewrite has changed,
// in the order of their first use. Each is its template, followed by its operands' constraints.
func Statements(preprocessed string) []string {
	var list []string
	seen := map[string]bool{}
	var tokens []cudalex.Piece
	for _, p := range cudalex.Pieces(preprocessed, nil) {
		if p.Kind <= cudalex.Punct {
			tokens = append(tokens, p)
		}
	}
	for i := range tokens {
		if !begins(tokens[i:], "emu", "::", "ptx", "::", "Asm", "<") {
			continue
		}
		var b strings.Builder
		j := i + 6
		for ; j < len(tokens) && tokens[j].Kind == cudalex.Literal; j++ {
			text, ok := decode(tokens[j].Text)
			if !ok {
				break
			}
			b.WriteString(text)
		}
		if s := b.String(); j < len(tokens) && is(tokens[j], ">") && !seen[s] {
			seen[s] = true
			list = append(list, s)
		}
	}
	return list
}

func begins(tokens []cudalex.Piece, words ...string) bool {
	if len(tokens) < len(words) {
		return false
	}
	for i, w := range words {
		if tokens[i].Text != w {
			return false
		}
	}
	return true
}

// decode returns the characters of a string literal.
func decode(literal string) (text string, ok bool) {
	if raw, found := strings.CutPrefix(literal, `R"`); found {
		open := strings.IndexByte(raw, '(')
		if tail := len(raw) - open - 2; open >= 0 && tail > open && raw[tail] == ')' {
			return raw[open+1 : tail], true
		}
		return "", false
	}
	if len(literal) < 2 || literal[0] != '"' || literal[len(literal)-1] != '"' {
		return "", false
	}
	body := literal[1 : len(literal)-1]
	var b strings.Builder
	for i := 0; i < len(body); {
		if body[i] != '\\' {
			b.WriteByte(body[i])
			i++
			continue
		}
		c, n := escape(body[i+1:])
		if n == 0 {
			return "", false
		}
		if c >= 0 {
			b.WriteByte(byte(c))
		}
		i += 1 + n
	}
	return b.String(), true
}

// escape returns the character of an escape sequence, given without its backslash, and its length; 0
// if it is none, and the character -1 for a continued line.
func escape(s string) (c, n int) {
	if s == "" {
		return 0, 0
	}
	if s[0] == '\n' {
		return -1, 1
	}
	if i := strings.IndexByte(`abfnrtv\'"?`, s[0]); i >= 0 {
		return int("\a\b\f\n\r\t\v\\'\"?"[i]), 1
	}
	base, from, most := 8, 0, 3
	if s[0] == 'x' {
		base, from, most = 16, 1, len(s)
	}
	n = from
	for n < len(s) && n < from+most && digit(s[n]) < base {
		n++
	}
	v, err := strconv.ParseUint(s[from:n], base, 8)
	if err != nil {
		return 0, 0
	}
	return int(v), n
}

// digit returns the value of a hexadecimal digit, or 16.
func digit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return 16
}

// encode returns a string literal with the characters of text.
func encode(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\' || c == '?':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			o := strconv.FormatUint(uint64(c), 8)
			b.WriteString(`\` + strings.Repeat("0", 3-len(o)) + o)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
