package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain returns text without effect on a terminal: control characters, except line breaks and tabs,
// and bytes that are not UTF-8 are written as in strings of Go. It applies to all text of the
// session, which cites names and messages of cells, files and other programs, but not to output of
// cells.
func Plain(text string) string {
	obeyed := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	if utf8.ValidString(text) && !strings.ContainsFunc(text, obeyed) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\r' && strings.HasPrefix(text[i:], "\r\n"):
		case r == '\r':
			b.WriteString(`\r`)
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)), obeyed(r) && r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case obeyed(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
