package reference

import (
	"strings"
	"unicode"
)

// Labels are the first words of paragraphs that say one thing about a declaration, in the order of
// the page. A comment needs none of them.
var Labels = []string{"Order", "Waits", "Cost", "On the cpu device"}

// Text is a comment in its parts.
type Text struct {
	Prose    []string          // paragraphs; those that are indented are code or tables
	Facts    map[string]string // by label, without it
	Examples []string          // the indented paragraphs below "Example:"
}

// Split splits a comment.
func Split(text string) Text {
	t := Text{Facts: map[string]string{}}
	example := false
	for _, p := range paragraphs(text) {
		switch label, rest, ok := strings.Cut(p, ":"); {
		case p == "Example:":
			example = true
			continue
		case example && Indented(p):
			t.Examples = append(t.Examples, unindent(p))
			continue
		case ok && isLabel(label):
			t.Facts[label] = strings.Join(strings.Fields(t.Facts[label]+" "+rest), " ")
		default:
			t.Prose = append(t.Prose, p)
		}
		example = false
	}
	return t
}

func isLabel(text string) bool {
	for _, l := range Labels {
		if l == text {
			return true
		}
	}
	return false
}

// paragraphs splits a text at empty lines. Text that follows "Example:" directly is a paragraph of
// its own, and so is a label's.
func paragraphs(text string) (list []string) {
	var lines []string
	flush := func() {
		if len(lines) > 0 {
			list = append(list, strings.Join(lines, "\n"))
		}
		lines = nil
	}
	indented := false // so are the lines, which may have empty ones between them
	for line := range strings.SplitSeq(text, "\n") {
		label, _, ok := strings.Cut(line, ":")
		switch {
		case strings.TrimSpace(line) == "" && indented:
			lines = append(lines, "")
			continue
		case strings.TrimSpace(line) == "":
			flush()
			continue
		case line == "Example:", ok && isLabel(label), Indented(line) != indented && len(lines) > 0:
			flush()
		}
		indented = Indented(line)
		if lines = append(lines, line); line == "Example:" {
			flush()
		}
	}
	flush()
	for i, p := range list {
		list[i] = strings.TrimRight(p, "\n")
	}
	return list
}

// Indented reports whether a paragraph is code or a table.
func Indented(paragraph string) bool { return strings.HasPrefix(paragraph, "  ") }

// unindent removes the blanks that all lines begin with.
func unindent(text string) string {
	lines := strings.Split(text, "\n")
	common := -1
	for _, l := range lines {
		if n := len(l) - len(strings.TrimLeft(l, " ")); strings.TrimSpace(l) != "" && (common < 0 || n < common) {
			common = n
		}
	}
	for i, l := range lines {
		lines[i] = strings.TrimRightFunc(l[min(max(common, 0), len(l)):], unicode.IsSpace)
	}
	return strings.Join(lines, "\n")
}

// Summary returns the first sentence of a comment in one line.
func Summary(text string) string {
	t := Split(text)
	if len(t.Prose) == 0 || Indented(t.Prose[0]) {
		return ""
	}
	line := strings.Join(strings.Fields(t.Prose[0]), " ")
	for i := 0; i < len(line); i++ {
		if i+1 < len(line) && (line[i] == '.' || line[i] == ';') && line[i+1] == ' ' {
			return line[:i]
		}
	}
	return strings.TrimSuffix(line, ".")
}
