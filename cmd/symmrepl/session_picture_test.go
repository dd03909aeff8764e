//go:build !race

package main

import (
	"fmt"
	"html"
	"regexp"
	"strings"
)

// Sizes of the picture of a session, in pixels, and its times, in seconds.
const (
	lineHeight  = 18
	charWidth   = 7.25
	margin      = 16
	typingTime  = 1.1 // before a typed line appears
	moreTime    = 0.5 // before the next line of the same cell
	answerTime  = 0.08
	readingTime = 2.5 // after what ranks have shown, and twice at the end
)

var pictureRanks = regexp.MustCompile(`^\[[0-9,-]+\] ?`)

// sessionPicture draws the text of a session as an animated SVG: lines appear as they did at the
// prompt, in the colours of the reader's theme. A reader who wants no motion sees the last picture.
func sessionPicture(session string) string {
	lines := strings.Split(strings.TrimSuffix(session, "\n"), "\n")
	var at []float64 // when each line appears
	now, width := 0.0, 0
	for i, line := range lines {
		typed := isTyped(line)
		switch {
		case i == 0:
		case strings.HasPrefix(line, "  ... "):
			now += moreTime
		case typed && strings.HasPrefix(lines[i-1], "["):
			now += readingTime
		case typed:
			now += typingTime
		default:
			now += answerTime
		}
		at = append(at, now)
		width = max(width, len([]rune(line)))
	}
	total := now + 2*readingTime
	var b strings.Builder
	w, h := 2*margin+int(charWidth*float64(width)), 2*margin+lineHeight*len(lines)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="A session at the prompt">
<style>
text { font: 12px ui-monospace, Menlo, Consolas, monospace; white-space: pre; fill: #1f2328 }
rect { fill: #f6f8fa; stroke: #d1d9e0 }
.prompt { fill: #0969da; font-weight: bold } .ranks { fill: #6e5494 } .mark { fill: #cf222e; font-weight: bold } .hint { fill: #1a7f37 }
@media (prefers-color-scheme: dark) {
text { fill: #d1d7e0 } rect { fill: #151b23; stroke: #3d444d }
.prompt { fill: #79b8ff } .ranks { fill: #c297ff } .mark { fill: #ff7b72 } .hint { fill: #7ee787 }
}
@media (prefers-reduced-motion: no-preference) {
g { animation: %.2fs step-end infinite }
`, w, h, w, h, total)
	for i := range lines {
		fmt.Fprintf(&b, "#l%d { animation-name: a%d } @keyframes a%d { 0%% { opacity: 0 } %.3f%% { opacity: 1 } }\n", i, i, i, 100*at[i]/total)
	}
	fmt.Fprintf(&b, "}\n</style>\n<rect x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n", w-1, h-1)
	for i, line := range lines {
		fmt.Fprintf(&b, `<g id="l%d"><text x="%d" y="%d">%s</text></g>`+"\n", i, margin, margin+lineHeight*i+13, coloured(line))
	}
	return b.String() + "</svg>\n"
}

// isTyped reports whether the user typed a line of a session.
func isTyped(line string) bool {
	return strings.HasPrefix(line, "symm> ") || strings.HasPrefix(line, "  ... ") || strings.HasPrefix(line, "$ ")
}

// coloured returns a line as the content of an SVG text, with its parts in classes.
func coloured(line string) string {
	span := func(class, text string) string {
		return fmt.Sprintf(`<tspan class="%s">%s</tspan>`, class, html.EscapeString(text))
	}
	for _, prompt := range []string{"symm> ", "  ... ", "$ "} {
		if rest, typed := strings.CutPrefix(line, prompt); typed {
			return span("prompt", prompt) + html.EscapeString(rest)
		}
	}
	ranks := pictureRanks.FindString(line)
	rest := strings.TrimPrefix(line, ranks)
	switch trimmed := strings.TrimLeft(rest, " "); {
	case strings.Trim(trimmed, "^~") == "" && trimmed != "":
		rest = span("mark", rest)
	case strings.HasPrefix(trimmed, "repair:"), strings.HasPrefix(trimmed, "hint:"):
		rest = span("hint", rest)
	default:
		rest = html.EscapeString(rest)
	}
	if ranks == "" {
		return rest
	}
	return span("ranks", ranks) + rest
}
