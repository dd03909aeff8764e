package chart

import "github.com/symmrepl/symmrepl/internal/forms"

// SimpleRender returns the chart's numbers, from which front ends draw the charts of several ranks as
// one.
func (c *Chart) SimpleRender() map[string]any {
	f := forms.Chart{Title: c.Title, X: c.X, Y: c.Y, Names: c.Names, Marks: c.Marks, LogX: c.LogX, LogY: c.LogY}
	if c.at != nil {
		f.At = pointers(c.at)
	}
	for _, line := range c.lines {
		f.Lines = append(f.Lines, forms.Line{Values: pointers(line.values), Step: line.step})
	}
	if c.heat != nil {
		for _, row := range c.heat.rows() {
			f.Heat = append(f.Heat, pointers(row))
		}
	}
	return map[string]any{forms.ChartType: forms.Encode(f)}
}

// pointers returns numbers for JSON.
func pointers(values []float64) []*float64 {
	out := make([]*float64, len(values))
	for i := range values {
		if drawn(values[i], false) {
			out[i] = &values[i]
		}
	}
	return out
}
