package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// squares draws the cells of a heat map from the top left on. A cell reaches below its right and its
// lower neighbour, which are drawn over it: edges that only touch let the page show through, because
// each of them covers a part of a pixel.
type squares struct {
	*plotter.HeatMap // for the ranges of the axes
	grid             *grid
	colours          []color.Color
}

// overlap is the length by which a cell reaches below the next one.
const overlap = 0.5 * vg.Inch / 72

// Plot implements plot.Plotter.
func (s squares) Plot(canvas draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&canvas)
	columns, rows := s.grid.Dims()
	for row := range rows {
		for column := range columns {
			colour := s.colour(row, column)
			if colour == nil {
				continue
			}
			atX, atY := s.grid.X(column), s.grid.Y(row)
			place := vg.Rectangle{Min: vg.Point{X: x(atX - s.grid.wide/2), Y: y(atY - s.grid.high/2)},
				Max: vg.Point{X: x(atX + s.grid.wide/2), Y: y(atY + s.grid.high/2)}}
			if column+1 < columns && s.colour(row, column+1) != nil {
				place.Max.X += overlap
			}
			if row+1 < rows && s.colour(row+1, column) != nil {
				place.Min.Y -= overlap
			}
			canvas.SetColor(colour)
			canvas.Fill(place.Path())
		}
	}
}

// colour returns the colour of a cell, nil if its value is no number of the scale.
func (s squares) colour(row, column int) color.Color {
	v := s.grid.Z(column, row)
	if math.IsNaN(v) || v < s.Min || v > s.Max {
		return nil
	}
	return s.colours[int(math.Round((v-s.Min)/(s.Max-s.Min)*float64(len(s.colours)-1)))]
}
