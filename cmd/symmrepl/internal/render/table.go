package render

import (
	"strings"
	"text/tabwriter"
)

// Cut ends lines longer than a number of columns with "…"; 0 leaves them unchanged.
func Cut(text string, width int) string {
	if width <= 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if columns(line) <= width {
			continue
		}
		cut := []rune(line)
		for columns(string(cut))+1 > width {
			cut = cut[:len(cut)-1]
		}
		lines[i] = string(cut) + "…"
	}
	return strings.Join(lines, "\n")
}

// Table lays out rows in columns. The first row is the header.
func Table(rows [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	for _, row := range rows {
		w.Write([]byte(strings.Join(row, "\t") + "\n"))
	}
	w.Flush()
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n") + "\n"
}
