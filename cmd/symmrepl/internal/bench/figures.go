package bench

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// figure is a line of a table or of JSON.
type figure struct {
	What  string
	Times map[string]float64 // by way
}

// parseFigures reads the lines of the programs that measure: what, which way, and the time; or "-",
// which way, and why there is no time. Missing has sentences about the latter.
func parseFigures(said string) (figures []*figure, missing []string, err error) {
	for line := range strings.Lines(said) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(f) == 3 && f[0] == "-" {
			missing = append(missing, fmt.Sprintf("%s is not measured: %s", f[1], f[2]))
			continue
		}
		if len(f) != 3 {
			return nil, nil, fmt.Errorf("the ranks said %q", line)
		}
		time, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			return nil, nil, fmt.Errorf("the ranks said %q", line)
		}
		figures = add(figures, f[0], f[1], time)
	}
	return figures, missing, nil
}

// add adds a time to the figure of its name.
func add(figures []*figure, what, way string, time float64) []*figure {
	i := slices.IndexFunc(figures, func(f *figure) bool { return f.What == what })
	if i < 0 {
		i = len(figures)
		figures = append(figures, &figure{What: what, Times: map[string]float64{}})
	}
	figures[i].Times[way] = time
	return figures
}

// printFigures prints the ways that were measured, of which the first are ours, and the ratio, under
// that title, of the very first to the best of the others.
func printFigures(figures []*figure, ways []string, ours int, ratio string, out io.Writer) error {
	measured := slices.DeleteFunc(slices.Clone(ways), func(way string) bool {
		return !slices.ContainsFunc(figures, func(f *figure) bool { return f.Times[way] != 0 })
	})
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "\t"+strings.Join(measured, "\t")+"\t"+ratio)
	for _, f := range figures {
		cells, best := []string{f.What}, math.Inf(1)
		for _, way := range measured {
			text := ""
			if time := f.Times[way]; time != 0 {
				text = fmt.Sprintf("%.2f", time)
				if slices.Contains(ways[ours:], way) {
					best = min(best, time)
				}
			}
			cells = append(cells, text)
		}
		part := ""
		if !math.IsInf(best, 1) {
			part = fmt.Sprintf("%.2f", f.Times[ways[0]]/best)
		}
		fmt.Fprintln(table, strings.Join(append(cells, part), "\t"))
	}
	return table.Flush()
}
