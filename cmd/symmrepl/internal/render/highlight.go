package render

import (
	"cmp"
	"go/token"
	"strings"

	"github.com/symmrepl/symmrepl/internal/gotokens"
)

// Attributes of source text.
const (
	styleKeyword = "34" // blue
	styleText    = "32" // strings and characters: green
	styleNumber  = "36" // cyan
	styleComment = "2"
	styleCommand = "1" // bold
	styleBracket = "1;4"
)

// Highlight colours Go, complete or not, and returns the result from byte from on. The text before
// from only gives context, such as an open comment. A bracket at byte cursor or before it stands
// out, with its counterpart; a negative cursor is nowhere.
func Highlight(text string, from, cursor int) string {
	var out strings.Builder
	done := from
	brackets := counterparts(text, cursor)
	for _, t := range tokens(text) {
		style := t.style()
		if brackets[t.start] {
			style = styleBracket
		}
		if style == "" || t.end <= done {
			continue
		}
		start := max(t.start, done)
		out.WriteString(text[done:start])
		paintLines(&out, style, text[start:t.end])
		done = t.end
	}
	out.WriteString(text[min(done, len(text)):])
	return out.String()
}

// paintLines gives each line of text the style, so that no line begins inside the effect of an
// escape sequence.
func paintLines(out *strings.Builder, style, text string) {
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		if line != "" {
			out.WriteString("\x1b[" + style + "m" + line + "\x1b[0m")
		}
	}
}

// piece is a token and its position.
type piece struct {
	kind       token.Token
	start, end int
}

func (t piece) style() string {
	switch {
	case t.kind.IsKeyword():
		return styleKeyword
	case t.kind == token.STRING || t.kind == token.CHAR:
		return styleText
	case t.kind == token.INT || t.kind == token.FLOAT || t.kind == token.IMAG:
		return styleNumber
	case t.kind == token.COMMENT:
		return styleComment
	}
	return ""
}

// tokens scans text to its end, also past errors.
func tokens(text string) (list []piece) {
	for t := range gotokens.WithComments(text) {
		if !t.IsNewline() {
			size := len(cmp.Or(t.Text, t.Kind.String()))
			list = append(list, piece{t.Kind, t.At, min(t.At+size, len(text))})
		}
	}
	return list
}

// counterparts returns the positions of the bracket at the cursor and of its counterpart, or
// nothing if one is missing.
func counterparts(text string, cursor int) map[int]bool {
	if cursor < 0 {
		return nil
	}
	var open []piece
	var before map[int]bool
	for _, t := range tokens(text) {
		switch t.kind {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			open = append(open, t)
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if len(open) == 0 {
				return before
			}
			last := open[len(open)-1]
			open = open[:len(open)-1]
			if !strings.Contains("()[]{}", text[last.start:last.end]+text[t.start:t.end]) {
				return before
			}
			pair := map[int]bool{last.start: true, t.start: true}
			switch {
			case pair[cursor]:
				return pair
			case pair[cursor-1]:
				before = pair
			}
		}
	}
	return before
}

// HighlightEntry colours the last line of an entry at a prompt: Go, a command, or a shell line.
// before holds the lines above it, each with its end.
func HighlightEntry(before, line string, cursor int) string {
	text := before + line
	trimmed := strings.TrimLeft(text, " \t\n")
	if trimmed == "" || !strings.ContainsRune(":%$", rune(trimmed[0])) {
		return highlightAt(before, line, cursor)
	}
	if start := len(text) - len(trimmed); start < len(before) { // the lines below the command are Go
		return highlightAt(before[start+strings.IndexByte(trimmed, '\n'):], line, cursor)
	}
	name := strings.TrimLeft(line, " \t")
	indent := line[:len(line)-len(name)]
	end := strings.IndexByte(name, ' ')
	if trimmed[0] == '$' {
		end = 1
	} else if end < 0 {
		end = len(name)
	}
	rest := name[end:]
	switch strings.TrimLeft(name[:end], ":%") {
	case "on", "time", "type", "doc":
		rest = highlightAt("", rest, cursor-len(indent)-end)
	}
	var out strings.Builder
	out.WriteString(indent)
	paintLines(&out, styleCommand, name[:end])
	return out.String() + rest
}

func highlightAt(before, line string, cursor int) string {
	if cursor >= 0 {
		cursor += len(before)
	}
	return Highlight(before+line, len(before), cursor)
}
