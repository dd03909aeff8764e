package render

import (
	"fmt"
	"html"
	"regexp"
	"slices"
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

// Table lays out rows in columns. The first row is the header. A cell may have several lines.
func Table(rows [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	for _, row := range rows {
		cells, high := make([][]string, len(row)), 1
		for i, cell := range row {
			cells[i] = strings.Split(cell, "\n")
			high = max(high, len(cells[i]))
		}
		for n := range high {
			line := make([]string, len(row))
			for i, cell := range cells {
				if n < len(cell) {
					line[i] = cell[n]
				}
			}
			w.Write([]byte(strings.Join(line, "\t") + "\n"))
		}
	}
	w.Flush()
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// TableHTML returns rows as a table in HTML, of which the first row is the header. Its lines do not
// break: a table that is wider than the page scrolls. Columns of numbers are aligned to the right.
// It has the class of pandas' tables, as tensors have.
func TableHTML(rows [][]string) string {
	var b strings.Builder
	b.WriteString(`<div style="max-width:100%;overflow-x:auto"><table class="dataframe">` + "\n")
	tag := "th"
	for _, row := range rows {
		b.WriteString("<tr>")
		for column, cell := range row {
			align := "left"
			if isNumeric(rows[1:], column) {
				align = "right"
			}
			fmt.Fprintf(&b, `<%s style="text-align:%s;vertical-align:top;white-space:pre">%s</%s>`, tag, align, cellHTML(cell), tag)
		}
		b.WriteString("</tr>\n")
		tag = "td"
	}
	b.WriteString("</table></div>")
	return b.String()
}

// cellHTML returns the text of a cell as HTML. Several lines are columns of characters.
func cellHTML(cell string) string {
	text := html.EscapeString(Plain(cell))
	if strings.Contains(cell, "\n") {
		return "<code>" + text + "</code>"
	}
	return text
}

// numeric matches a number, which a unit may follow: "12", "1.5 MiB".
var numeric = regexp.MustCompile(`^-?[0-9.]+(e[+-]?[0-9]+)?( [KMGT]?i?B)?$`)

// isNumeric reports whether a column of rows has only numbers.
func isNumeric(rows [][]string, column int) bool {
	return !slices.ContainsFunc(rows, func(row []string) bool { return !numeric.MatchString(row[column]) })
}
