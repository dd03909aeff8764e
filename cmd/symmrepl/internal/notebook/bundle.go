package notebook

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/chart"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/internal/forms"
	"github.com/symmrepl/symmrepl/session"
)

// Bundle returns values by MIME type: as text, folded by rank, and also in the other forms of the
// only value, with its metadata; or, of several values, as one chart of the lines of all ranks or as
// tabs. Short values that are only text have no tabs.
func Bundle(values []session.Value, size int) (data, metadata Content) {
	var text bytes.Buffer
	data, metadata = Content{}, Content{}
	render.New(&text, &text, size, false).Reply(session.Reply{Values: values})
	data["text/plain"] = strings.TrimSuffix(text.String(), "\n")
	if len(values) == 1 {
		maps.Copy(data, forms.Shown(values[0].Data))
		maps.Copy(metadata, values[0].Metadata)
		return data, metadata
	}
	if c := lines(values); c != nil {
		data["image/svg+xml"], data["image/png"] = c.SVG(), base64.StdEncoding.EncodeToString(c.PNG())
		return data, metadata
	}
	if slices.ContainsFunc(values, func(v session.Value) bool { return v.Data != nil || isLong(v.Text) }) {
		if tabs := render.ByRank(values, nil); tabs != "" {
			data["text/html"] = tabs
		}
	}
	return data, metadata
}

// together reports whether Bundle shows all forms of several values.
func together(values []session.Value) bool {
	return lines(values) != nil || render.HasTabs(values)
}

// longText is the length of a line beyond which values are easier to read in tabs, in bytes.
const longText = 100

// isLong reports whether a text takes several lines or a long one.
func isLong(text string) bool { return strings.Contains(text, "\n") || len(text) > longText }

// mostLines is the largest number of lines that one chart shows.
const mostLines = 28

// lines returns one chart with the lines of the charts of all ranks, or nil if the values are not
// charts of lines with the same axes and positions, or have too many lines.
func lines(values []session.Value) *chart.Chart {
	if len(values) < 2 {
		return nil
	}
	var first forms.Chart
	var names []string
	var series []any
	at, step := []float64(nil), 1.0
	title := ""
	for i, v := range values {
		f, ok := forms.Decode[forms.Chart](v.Data, forms.ChartType)
		if !ok || len(f.Lines) == 0 {
			return nil
		}
		if i == 0 {
			first, title, at, step = f, f.Title, floats(f.At), f.Lines[0].Step
		}
		if f.X != first.X || f.Y != first.Y || f.LogX != first.LogX || f.LogY != first.LogY ||
			!slices.Equal(f.Marks, first.Marks) || !slices.Equal(floats(f.At), at) {
			return nil
		}
		if f.Title != title {
			title = ""
		}
		for j, line := range f.Lines {
			name := render.RankLabel(v.Ranks)
			switch {
			case j < len(f.Names):
				name += ": " + f.Names[j]
			case len(f.Lines) > 1:
				name += fmt.Sprint(": series ", j)
			}
			names, series = append(names, name), append(series, floats(line.Values))
			if line.Step != step || len(f.At) > 0 && len(line.Values) != len(f.At) || step != 1 &&
				len(line.Values) != len(first.Lines[0].Values) {
				return nil
			}
		}
	}
	if len(series) > mostLines {
		return nil
	}
	if at == nil && step != 1 {
		for i := range first.Lines[0].Values {
			at = append(at, float64(i)*step)
		}
	}
	c := chart.Lines(series...)
	if at != nil {
		c = chart.Over(at, series...)
	}
	c.Title, c.X, c.Y, c.Names, c.Marks, c.LogX, c.LogY = title, first.X, first.Y, names, first.Marks, first.LogX, first.LogY
	return c
}

// floats returns the numbers of a chart's form, NaN for those that are not drawn.
func floats(values []*float64) []float64 {
	if len(values) == 0 {
		return nil
	}
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.NaN()
		if v != nil {
			out[i] = *v
		}
	}
	return out
}
