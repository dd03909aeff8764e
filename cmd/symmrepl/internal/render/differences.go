package render

import (
	"encoding/base64"
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/chart"
	"github.com/symmrepl/symmrepl/internal/forms"
)

const (
	mostDifferent = 100     // lines that differ and are shown
	mostEqual     = 2       // equal lines in a row that are shown
	mostText      = 1 << 18 // bytes of text that are compared
)

// differences returns the differences between groups as HTML: elements and statistics of tensors,
// the numbers of heat maps, the lines of texts. It returns "" for other values.
func differences(groups []group) string {
	if len(groups) < 2 {
		return ""
	}
	if d := tensorDifferences(groups); d != "" {
		return d
	}
	if d := heatDifferences(groups); d != "" {
		return d
	}
	size := 0
	for _, g := range groups {
		size += len(g.text)
		if g.text == "" {
			return ""
		}
	}
	if size > mostText {
		return ""
	}
	return textDifferences(groups)
}

// formsOf returns the forms of a type of all groups, or nil if one lacks it.
func formsOf[T any](groups []group, mimeType string) []T {
	var all []T
	for _, g := range groups {
		form, ok := forms.Decode[T](g.data, mimeType)
		if !ok {
			return nil
		}
		all = append(all, form)
	}
	return all
}

// tensorDifferences compares tensors of one type and shape: their statistics, and for each element
// that their tables show the greatest less the least.
func tensorDifferences(groups []group) string {
	all := formsOf[forms.Tensor](groups, forms.TensorType)
	if all == nil || slices.ContainsFunc(all,
		func(t forms.Tensor) bool { return t.Kind != all[0].Kind || len(t.Parts) != len(all[0].Parts) }) {
		return ""
	}
	var b strings.Builder
	b.WriteString(`<table class="dataframe"><tr><th></th><th>min</th><th>max</th><th>mean</th><th>NaN</th></tr>`)
	rows := make([][]string, len(all))
	for i, t := range all {
		rows[i] = []string{t.Min, t.Max, t.Mean, strconv.Itoa(t.NaN)}
	}
	for i, row := range rows {
		fmt.Fprintf(&b, "<tr><th>%s</th>", html.EscapeString(RankLabel(groups[i].ranks)))
		for j, text := range row {
			text = html.EscapeString(text)
			if slices.ContainsFunc(rows, func(r []string) bool { return r[j] != row[j] }) {
				text = "<b>" + text + "</b>"
			}
			fmt.Fprintf(&b, "<td>%s</td>", text)
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</table>")
	differ, shown := 0, 0
	var tables strings.Builder
	for i, part := range all[0].Parts {
		if part.Name != "" {
			fmt.Fprintf(&tables, "<div>%s</div>", html.EscapeString(part.Name))
		}
		tables.WriteString(`<table class="dataframe"><tr><th></th>`)
		for _, column := range part.Columns {
			fmt.Fprintf(&tables, "<th>%s</th>", html.EscapeString(column))
		}
		tables.WriteString("</tr>")
		for y, row := range part.Rows {
			fmt.Fprintf(&tables, "<tr><th>%s</th>", html.EscapeString(row))
			if y >= len(part.Cells) { // the form is not a tensor's
				return ""
			}
			for x := range part.Cells[y] {
				var texts []string
				for _, t := range all {
					if i < len(t.Parts) && y < len(t.Parts[i].Cells) && x < len(t.Parts[i].Cells[y]) {
						texts = append(texts, t.Parts[i].Cells[y][x])
					}
				}
				text, equal := spread(texts)
				if texts[0] != "…" {
					shown++
					if !equal {
						differ++
						text = "<b>" + html.EscapeString(text) + "</b>"
					}
				}
				fmt.Fprintf(&tables, "<td>%s</td>", text)
			}
			tables.WriteString("</tr>")
		}
		tables.WriteString("</table>")
	}
	fmt.Fprintf(&b, "<div>The greatest less the least over the ranks: %d of the %d elements shown differ. <code>%%diff x</code> compares all elements of a tensor x.</div>", differ, shown)
	return b.String() + tables.String()
}

// spread returns the greatest less the least of numbers that are texts. equal is set if there is no
// difference.
func spread(texts []string) (text string, equal bool) {
	if !slices.ContainsFunc(texts, func(t string) bool { return t != texts[0] }) {
		if texts[0] == "…" {
			return "…", true
		}
		return "0", true
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, t := range texts {
		x, err := strconv.ParseFloat(t, 64)
		if err != nil || math.IsNaN(x) {
			return "NaN", false
		}
		lo, hi = min(lo, x), max(hi, x)
	}
	return strconv.FormatFloat(hi-lo, 'g', 3, 64), false
}

// heatDifferences compares heat maps of one size: for each number the greatest less the least.
func heatDifferences(groups []group) string {
	all := formsOf[forms.Chart](groups, forms.ChartType)
	if all == nil {
		return ""
	}
	var out [][]float64
	for y, row := range all[0].Heat {
		if len(row) != len(all[0].Heat[0]) { // the form is not a chart's
			return ""
		}
		out = append(out, make([]float64, len(row)))
		for x := range row {
			lo, hi := math.Inf(1), math.Inf(-1)
			for _, c := range all {
				if len(c.Heat) != len(all[0].Heat) || len(c.Heat[y]) != len(row) {
					return ""
				}
				v := math.NaN()
				if p := c.Heat[y][x]; p != nil {
					v = *p
				}
				lo, hi = min(lo, v), max(hi, v)
			}
			out[y][x] = hi - lo
		}
	}
	if len(out) == 0 || len(out[0]) == 0 {
		return ""
	}
	c := chart.Heat(out)
	c.Title = "the greatest less the least over the ranks"
	return fmt.Sprintf(`<img src="data:image/png;base64,%s">`, base64.StdEncoding.EncodeToString(c.PNG()))
}

// textDifferences compares texts line by line. Lines that are equal are shown once, or counted; in
// others the words that differ are marked.
func textDifferences(groups []group) string {
	lines, most := make([][]string, len(groups)), 0
	for i, g := range groups {
		lines[i] = strings.Split(Plain(g.text), "\n")
		most = max(most, len(lines[i]))
	}
	var b strings.Builder
	b.WriteString(`<table class="dataframe symm-differences">`)
	row := func(label, text string) {
		fmt.Fprintf(&b, `<tr><th style="text-align:left">%s</th><td style="text-align:left">%s</td></tr>`,
			html.EscapeString(label), preformatted(text))
	}
	var equal []string
	closeEqual := func() {
		if len(equal) > mostEqual {
			row("", fmt.Sprintf("… %d equal lines", len(equal)))
		} else {
			for _, line := range equal {
				row("all", html.EscapeString(line))
			}
		}
		equal = nil
	}
	different := 0
	for n := range most {
		var versions []string
		of := map[string][]int{}
		for i, g := range groups {
			line := "\x00" // none
			if n < len(lines[i]) {
				line = lines[i][n]
			}
			if of[line] == nil {
				versions = append(versions, line)
			}
			of[line] = append(of[line], g.ranks...)
		}
		if len(versions) == 1 {
			equal = append(equal, versions[0])
			continue
		}
		closeEqual()
		if different++; different > mostDifferent {
			row("", "… more lines differ")
			break
		}
		marked := markedWords(versions)
		for i, line := range versions {
			if line == "\x00" {
				marked[i] = "<i>no line</i>"
			}
			slices.Sort(of[line])
			row(RankLabel(of[line]), marked[i])
		}
	}
	closeEqual()
	return b.String() + "</table>"
}

// words divides a line into names and numbers, white space, and other characters.
var words = regexp.MustCompile(`[\pL\pN_]+(?:\.[0-9]+)?|\s+|.`)

// markedWords returns lines as HTML in which the words that differ are marked: in lines with
// equally many words the unequal words, in other lines all words between the common beginning and
// the common end.
func markedWords(versions []string) []string {
	split := make([][]string, len(versions))
	least, alike := math.MaxInt, true
	for i, line := range versions {
		split[i] = words.FindAllString(line, -1)
		least = min(least, len(split[i]))
		alike = alike && len(split[i]) == len(split[0])
	}
	same := func(at func(list []string) string) bool {
		return !slices.ContainsFunc(split, func(list []string) bool { return at(list) != at(split[0]) })
	}
	begin, end := 0, 0
	for begin < least && same(func(list []string) string { return list[begin] }) {
		begin++
	}
	for end < least-begin && same(func(list []string) string { return list[len(list)-1-end] }) {
		end++
	}
	var out []string
	for _, list := range split {
		var b strings.Builder
		for i, word := range list {
			marked := i >= begin && i < len(list)-end && (!alike || !same(func(list []string) string { return list[i] }))
			if marked {
				b.WriteString("<mark>")
			}
			b.WriteString(html.EscapeString(word))
			if marked {
				b.WriteString("</mark>")
			}
		}
		out = append(out, strings.ReplaceAll(b.String(), "</mark><mark>", ""))
	}
	return out
}
