package render

import (
	"regexp"
	"strings"
)

// style matches an escape sequence that paints text.
var style = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Unprefixed returns the text of errors with each one's ranks on its first line only: the lines below
// it, which are indented, do not repeat them. Notebooks show it; on a terminal, lines of other ranks
// could come between.
func Unprefixed(text string) string {
	var out []string
	last := ""
	for _, line := range strings.Split(text, "\n") {
		prefix, rest := cutPrefix(line)
		if prefix != "" && prefix == last && strings.HasPrefix(style.ReplaceAllString(rest, ""), " ") {
			line = rest
		}
		last = prefix
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// cutPrefix divides a line into its ranks, "[0-3] ", and the rest.
func cutPrefix(line string) (prefix, rest string) {
	if !strings.HasPrefix(line, "[") {
		return "", line
	}
	end := strings.Index(line, "] ")
	if end < 0 || strings.Trim(line[1:end], "0123456789,-") != "" {
		return "", line
	}
	return line[:end+2], line[end+2:]
}
