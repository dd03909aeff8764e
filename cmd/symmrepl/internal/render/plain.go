package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain returns text without anything that a terminal would obey: control characters but line breaks and tabs, and bytes that are not
// UTF-8, are written as in Go's strings. What the session itself says passes through it, since it cites what cells, files and other
// programs are called and say; what cells print does not.
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
