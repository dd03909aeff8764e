package view

import (
	"fmt"
	"html"
	"strings"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/internal/timeline"
)

// shown is the number of lines of kernels and of the critical path that stand in the open; the
// others can be opened.
const shown = 12

// tables are the summary of a timeline, and its header.
func tables(t *timeline.Timeline) string {
	s := t.Summary()
	var b strings.Builder
	if w := s.Slowest; w != nil {
		fmt.Fprintf(&b, "<p><b>Slowest: rank %d.</b> %s</p>\n", w.Rank,
			html.EscapeString(fmt.Sprintf("The others waited %s for it, rank %d longest: %s in %s, when rank %d %s.",
				timeline.Short(w.Waited), w.By, timeline.Short(w.Wait.Took), w.In.Title(), w.Rank, w.Doing)))
	}
	var lines [][]string
	for _, k := range append(append([]timeline.Share{}, s.Kernels...), s.Copies, s.Waits) {
		if k.Times > 0 {
			lines = append(lines, []string{k.Name, fmt.Sprint(k.Times), timeline.Short(k.Took)})
		}
	}
	table(&b, "Time by kernel, all ranks together", []string{"kernel", "times", "took"}, lines)
	lines = nil
	for _, o := range s.Overlap {
		lines = append(lines, []string{fmt.Sprint(o.Rank), timeline.Short(o.Busy), timeline.Short(o.Beside),
			fmt.Sprintf("%.0f %%", o.Percent())})
	}
	table(&b, "Overlap of streams and messages", []string{"rank", "works", "on two tracks at once", "overlap"}, lines)
	lines = nil
	for _, g := range s.Critical {
		lines = append(lines, []string{fmt.Sprint(g.Rank), g.Name, g.At, timeline.Short(g.Begin), timeline.Short(g.Took)})
	}
	fmt.Fprintf(&b, "<details><summary><b>Critical path, %s</b></summary>\n", count.Of(len(lines), "part"))
	table(&b, "", []string{"rank", "operation", "line", "from", "took"}, lines)
	b.WriteString("</details>\n")
	fmt.Fprintf(&b, "<p><small>%s</small></p>\n", strings.ReplaceAll(html.EscapeString(strings.Join(t.Header(), "\n")), "\n", "<br>"))
	return b.String()
}

// table writes lines under a caption, if it has one, the first ones in the open. Without lines it
// writes nothing.
func table(b *strings.Builder, caption string, heads []string, lines [][]string) {
	if len(lines) == 0 {
		return
	}
	write := func(lines [][]string) {
		b.WriteString("<table><thead><tr>")
		for _, h := range heads {
			fmt.Fprintf(b, "<th>%s</th>", h)
		}
		b.WriteString("</tr></thead><tbody>\n")
		for _, l := range lines {
			b.WriteString("<tr>")
			for _, cell := range l {
				fmt.Fprintf(b, "<td>%s</td>", html.EscapeString(cell))
			}
			b.WriteString("</tr>\n")
		}
		b.WriteString("</tbody></table>\n")
	}
	if caption != "" {
		fmt.Fprintf(b, "<p><b>%s</b></p>\n", caption)
	}
	first := lines[:min(shown, len(lines))]
	write(first)
	if rest := lines[len(first):]; len(rest) > 0 {
		fmt.Fprintf(b, "<details><summary>%d more</summary>\n", len(rest))
		write(rest)
		b.WriteString("</details>\n")
	}
}
