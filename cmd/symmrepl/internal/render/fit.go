package render

import "strings"

// Fit breaks the lines of a text that are longer than a number of columns, between words; 0 leaves
// the text unchanged. The rest of a broken line is indented to the last column of a table, if two
// or more spaces separate such a column, or else a little more than the line.
func Fit(text string, width int) string {
	if width <= 0 {
		return text
	}
	var out []string
	for _, line := range strings.Split(text, "\n") {
		hang := hanging(line, width)
		for columns(line) > width {
			at := lastSpace(line, hang, width)
			if at < 0 {
				break
			}
			out = append(out, strings.TrimRight(line[:at], " "))
			line = strings.Repeat(" ", hang) + strings.TrimLeft(line[at:], " ")
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// hanging returns the indentation for the rest of a line. It leaves at least a third of the width.
func hanging(line string, width int) int {
	begin := len(line) - len(strings.TrimLeft(line, " "))
	gap := strings.LastIndex(strings.TrimRight(line, " "), "  ") + len("  ")
	if gap >= len("  ") && gap > begin {
		if hang := columns(line[:gap]); hang <= width*2/3 {
			return hang
		}
	}
	if begin+2 <= width/2 {
		return begin + 2
	}
	return 0
}

// lastSpace returns the last space of a line within width columns, or else the first space after
// them, if there is text between hang and the space; otherwise -1.
func lastSpace(line string, hang, width int) int {
	at, column := -1, 0
	for i, r := range line {
		if r == ' ' && strings.TrimLeft(line[:i], " ") != "" && column > hang {
			if column > width && at >= 0 {
				break
			}
			at = i
			if column > width {
				break
			}
		}
		column += RuneColumns(r)
	}
	return at
}
