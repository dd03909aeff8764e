package chart

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/symmrepl/symmrepl/internal/heat"
)

const (
	barWidth = 10 * vg.Inch / 72 // of a colour bar
	beside   = 8 * vg.Inch / 72  // between a plot and its legend or colour bar
	margin   = 0.05              // of the range of the numbers, on both sides of it
)

// draw draws the chart: beside the plot, so that it hides nothing, its legend or its colour bar.
func (c *Chart) draw(canvas draw.Canvas) {
	p := c.plot()
	show := func(at draw.Canvas) {
		fit(&p.Title.TextStyle, c.Title, at.Size().X)
		p.Draw(at)
	}
	switch {
	case c.heat != nil:
		lo, hi := c.heat.bounds()
		labels := p.Y.Tick.Label
		marks := ticks{}.Ticks(lo, hi)
		width := beside + barWidth + 3*vg.Inch/72 + widest(labels, marks) + beside/2
		plotted := draw.Crop(canvas, 0, -width, 0, 0)
		show(plotted)
		bar := p.DataCanvas(plotted).Rectangle
		bar.Min.X = canvas.Max.X - width + beside
		bar.Max.X = bar.Min.X + barWidth
		drawBar(canvas, bar, lo, hi, labels, marks)
	case len(c.lines) > 1 || len(c.Names) > 0:
		legend := c.legend(p)
		for i := range c.lines {
			fit(&legend.TextStyle, c.name(i), canvas.Size().X/4)
		}
		room := canvas.Size().Y - legend.TextStyle.Height(" ") - p.Title.TextStyle.Height(c.Title)
		for tall := legend.Rectangle(canvas).Size().Y; tall > room; tall = legend.Rectangle(canvas).Size().Y {
			legend.TextStyle.Font.Size *= max(room/tall, 0.5) * 0.98
			legend.Padding *= 0.5
		}
		size := legend.Rectangle(canvas).Size()
		show(draw.Crop(canvas, 0, -size.X-beside, 0, 0))
		legend.Draw(draw.Crop(canvas, canvas.Size().X-size.X-beside/2, -beside/2, 0,
			-legend.TextStyle.Height(" ")-p.Title.TextStyle.Height(c.Title)))
	default:
		show(canvas)
	}
}

// fit makes a style small enough for a text to take a width at most.
func fit(s *text.Style, words string, width vg.Length) {
	if w := s.Width(words); w > width {
		s.Font.Size *= width / w
	}
}

func widest(s text.Style, marks []plot.Tick) (width vg.Length) {
	for _, m := range marks {
		width = max(width, s.Width(m.Label))
	}
	return width
}

// drawBar draws a colour bar for numbers from lo to hi.
func drawBar(canvas draw.Canvas, bar vg.Rectangle, lo, hi float64, labels text.Style, marks []plot.Tick) {
	const steps = 128
	at := func(part float64) vg.Length { return bar.Min.Y + vg.Length(part)*bar.Size().Y }
	for i := range steps {
		piece := vg.Rectangle{Min: vg.Point{X: bar.Min.X, Y: at(float64(i) / steps)},
			Max: vg.Point{X: bar.Max.X, Y: min(at(float64(i+2)/steps), bar.Max.Y)}}
		canvas.SetColor(heat.Shade((float64(i) + 0.5) / steps))
		canvas.Fill(piece.Path())
	}
	labels.XAlign, labels.YAlign = text.XLeft, text.YCenter
	for _, m := range marks {
		y := at(0.5)
		if hi > lo {
			y = at((m.Value - lo) / (hi - lo))
		}
		canvas.StrokeLine2(draw.LineStyle{Color: color.Black, Width: vg.Points(0.5)}, bar.Max.X, y, bar.Max.X+vg.Points(2), y)
		canvas.FillText(labels, vg.Point{X: bar.Max.X + vg.Points(3), Y: y}, m.Label)
	}
}

// bounds returns the least and the greatest number of a heat map, 0 and 0 if there is none.
func (g *grid) bounds() (lo, hi float64) {
	lo, hi, ok := heat.Range(g.values)
	if !ok {
		return 0, 0
	}
	return lo, hi
}
