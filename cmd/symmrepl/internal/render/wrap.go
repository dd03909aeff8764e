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
		item := strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "* ")
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
				if strings.HasPrefix((*last)[hang:], "- ") || strings.HasPrefix((*last)[hang:], "* ") {
					hang += 2
				}
				out = append(out, strings.Repeat(" ", hang)+word)
			}
		}
	}
	return strings.Join(out, "\n")
}
