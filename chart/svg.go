package chart

import (
	"bytes"
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The size of a chart, and the gap between the charts of a page.
const width, height, gap = 5 * vg.Inch, 3 * vg.Inch, vg.Inch / 8

// SVG returns the chart as an SVG picture. It panics if the chart cannot be drawn.
func (c *Chart) SVG() string { return Page(1, c) }

// Page returns several charts as one SVG picture with the given number of columns; a nil chart leaves its place empty. It panics if there is no chart
// or no column, or if a chart cannot be drawn.
func Page(columns int, charts ...*Chart) string {
	if columns < 1 || len(charts) == 0 {
		panic(fmt.Errorf("chart.Page: %d charts in rows of %d: give it a chart and a column at least", len(charts), columns))
	}
	rows := (len(charts) + columns - 1) / columns
	picture := vgsvg.New(width*vg.Length(columns), height*vg.Length(rows))
	page, tiles := draw.New(picture), draw.Tiles{Cols: columns, Rows: rows, PadX: gap, PadY: gap, PadTop: gap / 2, PadBottom: gap / 2, PadLeft: gap / 2, PadRight: gap / 2}
	for i, c := range charts {
		if c != nil {
			c.plot().Draw(tiles.At(page, i%columns, i/columns))
		}
	}
	var b bytes.Buffer
	if _, err := picture.WriteTo(&b); err != nil {
		panic(fmt.Errorf("chart: %w", err))
	}
	return b.String()
}

// plot converts the chart to a gonum plot.
func (c *Chart) plot() *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.Title, c.X, c.Y
	if c.heat != nil {
		p.Add(plotter.NewHeatMap(c.heat, palette.Heat(64, 1)))
	}
	for i := range c.lines {
		line, dots, err := plotter.NewLinePoints(c.points(i))
		if err != nil {
			continue // no point can be drawn
		}
		line.Color = plotutil.Color(i)
		p.Add(line)
		if c.at != nil { // the line alone does not show the positions
			dots.Color, dots.Shape, dots.Radius = line.Color, draw.CircleGlyph{}, vg.Points(2)
			p.Add(dots)
		}
		if len(c.lines) > 1 || len(c.Names) > 0 {
			p.Legend.Add(c.name(i), line)
		}
	}
	p.Legend.Top, p.Legend.Left = c.LogX, c.LogX // rising lines leave room there
	marked := len(c.Marks) > 0 && len(c.Marks) == len(c.at)
	if c.LogX {
		logarithmic(&p.X, !marked)
	}
	if c.LogY {
		logarithmic(&p.Y, true)
	}
	if marked {
		marks := make(plot.ConstantTicks, len(c.at))
		for i, x := range c.at {
			marks[i] = plot.Tick{Value: x, Label: c.Marks[i]}
		}
		p.X.Tick.Marker = marks
	}
	return p
}

// points returns the points of line i that can be drawn.
func (c *Chart) points(i int) plotter.XYs {
	points := plotter.XYs{}
	for j, y := range c.lines[i] {
		x := float64(j)
		if c.at != nil {
			x = c.at[j]
		}
		if drawn(x, c.LogX) && drawn(y, c.LogY) {
			points = append(points, plotter.XY{X: x, Y: y})
		}
	}
	return points
}

// drawn reports whether v can be drawn on an axis.
func drawn(v float64, logarithmic bool) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (v > 0 || !logarithmic)
}

// logarithmic makes an axis logarithmic; with decades, it extends the axis to whole decades.
func logarithmic(a *plot.Axis, decades bool) {
	if a.Min > a.Max { // the chart has no points
		a.Min, a.Max = 1, 1
	}
	a.Scale, a.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	if decades {
		a.Min, a.Max = math.Pow10(int(math.Floor(math.Log10(a.Min)))), math.Pow10(int(math.Ceil(math.Log10(a.Max))))
	}
	if a.Min == a.Max {
		a.Max *= 10
	}
}
