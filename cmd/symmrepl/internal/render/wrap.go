package render

import "strings"

// Wrap breaks the paragraphs of a Markdown text between words to fit a number of columns; 0 leaves
// the text unchanged. Code, tables and headings keep their lines, and each item of a list is a
// paragraph.
func Wrap(text string, width int) string {
	if width <= 0 {
		return text
	}
	var out []string
	begins := true // the next line begins a paragraph
	for _, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimLeft(line, " ")
		indent := len(line) - len(trimmed)
		item := marker(trimmed) > 0
		if trimmed == "" || strings.HasPrefix(line, "    ") || strings.ContainsRune("|#", rune(trimmed[0])) {
			out = append(out, line)
			begins = true
			continue
		}
		if begins || item {
			out = append(out, line[:indent])
			begins = false
		}
		for _, word := range strings.Fields(trimmed) {
			last := &out[len(out)-1]
			switch {
			case strings.TrimLeft(*last, " ") == "":
				*last += word
			case columns(*last)+1+columns(word) <= width:
				*last += " " + word
			default:
				hang := len(*last) - len(strings.TrimLeft(*last, " "))
				hang += marker((*last)[hang:])
				out = append(out, strings.Repeat(" ", hang)+word)
			}
		}
	}
	return strings.Join(out, "\n")
}

// marker returns the length of the mark that begins an item of a list: "- ", "* ", "12. "; 0 if
// nothing does.
func marker(line string) int {
	if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") {
		return 2
	}
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	if digits > 0 && digits < 4 && strings.HasPrefix(line[digits:], ". ") {
		return digits + 2
	}
	return 0
}
