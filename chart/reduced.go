package chart

import (
	"math"
	"slices"
)

// Charts of many numbers are drawn from fewer: from extremes of parts, so that no peak is lost.

const (
	mostPoints = 4096 // of a series that is drawn as it is
	lineParts  = 512

	mostCells             = 128 * 128 // of a matrix that is drawn as it is
	heatRows, heatColumns = 48, 96
)

// tensor has the methods of tensors by which they are drawn without reading all elements: Extremes
// gives the least and the greatest finite element of each part, or NaN.
type tensor interface {
	Numel() int
	Shape() []int
	Extremes(parts ...int) (least, greatest []float64)
}

// series is a line of n numbers. A long one is drawn by the least and the greatest number of each
// part, in turn.
type series struct {
	values []float64
	n      int
	step   float64 // from the index of a value to the index of the next
}

// seriesOf returns the series of x, a tensor or a slice of numbers. It panics for other values.
func seriesOf(function string, x any) series {
	if t, ok := x.(tensor); ok && t.Numel() > mostPoints {
		least, greatest := t.Extremes(lineParts)
		return inTurn(t.Numel(), least, greatest)
	}
	values := numbers(function, x)
	if len(values) <= mostPoints {
		return series{values, len(values), 1}
	}
	least, greatest := extremes(values, len(values), 1, lineParts)
	return inTurn(len(values), least, greatest)
}

// inTurn is the series of n numbers with these extremes of its parts.
func inTurn(n int, least, greatest []float64) series {
	s := series{n: n, step: float64(part(n, lineParts)) / 2}
	for i := range least {
		s.values = append(s.values, least[i], greatest[i])
	}
	return s
}

// part returns the size of a part if n things are divided into at most parts parts, all of the same
// size but the last one.
func part(n, parts int) int { return (n + parts - 1) / parts }

// extremes returns the least and the greatest finite number of each rectangle of a matrix that is
// divided into at most down times across of them, NaN if there is none.
func extremes(matrix []float64, columns, down, across int) (least, greatest []float64) {
	high, wide := part(len(matrix)/columns, down), part(columns, across)
	for rows := range slices.Chunk(matrix, high*columns) {
		for c := 0; c < columns; c += wide {
			lo, hi := math.Inf(1), math.Inf(-1)
			for row := range slices.Chunk(rows, columns) {
				for _, v := range row[c:min(c+wide, columns)] {
					if !math.IsNaN(v) && !math.IsInf(v, 0) {
						lo, hi = min(lo, v), max(hi, v)
					}
				}
			}
			if lo > hi {
				lo, hi = math.NaN(), math.NaN()
			}
			least, greatest = append(least, lo), append(greatest, hi)
		}
	}
	return least, greatest
}

// grid is a matrix that implements plotter.GridXYZ. Its first row is on top. A value stands for a
// number of rows and columns of the drawn data.
type grid struct {
	values     []float64
	columns    int
	high, wide float64
}

// gridOf returns the grid of a tensor of many elements, nil for others.
func gridOf(t tensor) *grid {
	n, shape := t.Numel(), t.Shape()
	if n <= mostCells || len(shape) == 0 {
		return nil
	}
	columns := shape[len(shape)-1]
	_, greatest := t.Extremes(heatRows, heatColumns)
	return rectangles(greatest, n/columns, columns)
}

// reduced returns the grid of fewer values for a matrix of many.
func (g *grid) reduced() *grid {
	if len(g.values) <= mostCells {
		return g
	}
	_, greatest := extremes(g.values, g.columns, heatRows, heatColumns)
	return rectangles(greatest, len(g.values)/g.columns, g.columns)
}

// rectangles is the grid of a matrix whose parts have these values.
func rectangles(values []float64, rows, columns int) *grid {
	high, wide := part(rows, heatRows), part(columns, heatColumns)
	return &grid{values, part(columns, wide), float64(high), float64(wide)}
}

func (g *grid) rows() [][]float64  { return slices.Collect(slices.Chunk(g.values, g.columns)) }
func (g *grid) Dims() (c, r int)   { return g.columns, len(g.values) / g.columns }
func (g *grid) Z(c, r int) float64 { return g.values[r*g.columns+c] }
func (g *grid) X(c int) float64    { return (float64(c)+0.5)*g.wide - 0.5 }
func (g *grid) Y(r int) float64    { return 0.5 - (float64(r)+0.5)*g.high }
