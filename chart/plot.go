package chart

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/symmrepl/symmrepl/internal/picture"
)

// The size of a chart, and the gap between the charts of a page.
const width, height, gap = 5 * vg.Inch, 3 * vg.Inch, vg.Inch / 8

// SVG returns the chart as an SVG picture. It panics if the chart cannot be drawn.
func (c *Chart) SVG() string { return Page(1, c) }

// PNG returns the chart as a PNG picture, which notebooks also show if they do not trust SVG. It
// has no paper: the background is transparent, and lines and words can be read on light and on dark
// pages. It panics if the chart cannot be drawn.
func (c *Chart) PNG() []byte { return page(1, c).BarePNG(c.heat != nil) }

// Page returns several charts as one SVG picture with the given number of columns; a nil chart
// leaves its place empty. It panics if there is no chart or no column, or if a chart cannot be
// drawn.
func Page(columns int, charts ...*Chart) string {
	if columns < 1 || len(charts) == 0 {
		panic(fmt.Errorf("chart.Page: %d charts in rows of %d: give it a chart and a column at least", len(charts), columns))
	}
	return page(columns, charts...).SVG()
}

// page returns a picture with charts in rows.
func page(columns int, charts ...*Chart) picture.Picture {
	rows := (len(charts) + columns - 1) / columns
	return picture.Picture{Width: width * vg.Length(columns), Height: height * vg.Length(rows), Draw: func(canvas *picture.Canvas) {
		tiles := draw.Tiles{Cols: columns, Rows: rows, PadX: gap, PadY: gap, PadTop: gap / 2,
			PadBottom: gap / 2, PadLeft: gap / 2, PadRight: gap / 2}
		for i, c := range charts {
			if c != nil {
				c.draw(tiles.At(canvas.Canvas, i%columns, i/columns))
			}
		}
	}}
}

// plot converts the chart to a gonum plot, without a legend.
func (c *Chart) plot() *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.Title, c.X, c.Y
	for _, s := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label,
		&p.Y.Tick.Label, &p.Legend.TextStyle} {
		s.Font.Variant = "Sans"
	}
	if c.heat != nil {
		c.plotHeat(p)
		return p
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{225}, color.Gray{225}
	p.Add(grid)
	for i := range c.lines {
		line, dots, err := plotter.NewLinePoints(c.points(i))
		if err != nil {
			continue // no point can be drawn
		}
		line.LineStyle = lineStyle(i)
		p.Add(line)
		if c.at != nil || len(line.XYs) == 1 { // the line alone does not show the positions
			dots.Color, dots.Shape, dots.Radius = line.Color, draw.CircleGlyph{}, vg.Points(2)
			p.Add(dots)
		}
	}
	marked := len(c.Marks) > 0 && len(c.Marks) == len(c.at)
	if c.LogX {
		logarithmic(&p.X, !marked)
	} else {
		linear(&p.X, c.at == nil || whole(c.at))
	}
	if c.LogY {
		logarithmic(&p.Y, true)
	} else {
		linear(&p.Y, false)
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

// lineStyle returns the style of line i. When the colours are used up, lines are dashed.
func lineStyle(i int) draw.LineStyle {
	s := draw.LineStyle{Color: lineColors[i%len(lineColors)], Width: vg.Points(1.5)}
	if rounds := i / len(lineColors); rounds > 0 {
		s.Dashes = []vg.Length{vg.Points(6 / float64(rounds)), vg.Points(2)}
	}
	return s
}

// legend returns the names of the lines in a plot.
func (c *Chart) legend(p *plot.Plot) plot.Legend {
	legend := p.Legend // for its style
	legend.Top, legend.Left = true, true
	legend.Padding = vg.Points(3)
	for i := range c.lines {
		legend.Add(c.name(i), &plotter.Line{LineStyle: lineStyle(i)})
	}
	return legend
}

// plotHeat adds a heat map. Its axes count columns from the left and rows from the top.
func (c *Chart) plotHeat(p *plot.Plot) {
	lo, hi := c.heat.bounds()
	cells := plotter.NewHeatMap(c.heat, scale(256))
	cells.Min, cells.Max = lo, hi
	if lo == hi {
		cells.Max = lo + 1
	}
	p.Add(squares{cells, c.heat, cells.Palette.Colors()})
	p.Y.Min, p.Y.Max = min(p.Y.Min, p.Y.Max), max(p.Y.Min, p.Y.Max) // rows count downwards
	p.X.Tick.Marker = ticks{whole: true}
	p.Y.Tick.Marker = ticks{whole: true, label: func(v float64) string { return number(-v, 1, 1) }}
}

func whole(all []float64) bool {
	for _, v := range all {
		if v != math.Trunc(v) {
			return false
		}
	}
	return true
}

// linear marks an axis at round numbers and leaves a margin on both sides of the numbers.
func linear(a *plot.Axis, whole bool) {
	if a.Min > a.Max { // the chart has no points
		a.Min, a.Max = 0, 1
	}
	room := (a.Max - a.Min) * margin
	if room == 0 {
		room = 0.5
		if !whole {
			room = math.Max(math.Abs(a.Max)*margin, 1e-9)
		}
		if a.Max == 0 {
			room = 0.5
		}
	}
	a.Min, a.Max = a.Min-room, a.Max+room
	a.Tick.Marker = ticks{whole: whole}
}

// points returns the points of line i that can be drawn.
func (c *Chart) points(i int) plotter.XYs {
	points := plotter.XYs{}
	for j, y := range c.lines[i].values {
		x := float64(j) * c.lines[i].step
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
