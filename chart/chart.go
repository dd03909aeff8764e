package chart

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Chart is a line chart or a heat map. Set its fields before it is shown.
type Chart struct {
	Title, X, Y string
	Names       []string // of the lines; empty: the lines are numbered
	Marks       []string // labels on the x axis, one for each position of Over; empty: numbers
	LogX, LogY  bool     // a logarithmic axis; only positive values are drawn

	at    []float64 // x positions of each line's values; nil: their indices
	lines []series
	heat  *grid
}

// Lines returns a chart of one or more series: slices of numbers, or tensors. Each is drawn over
// its indices; one of more than 4096 numbers by the least and the greatest finite number of each of
// 512 parts, which a tensor's device finds. Lines panics for other arguments.
func Lines(numbers ...any) *Chart {
	c := &Chart{}
	for _, s := range numbers {
		c.lines = append(c.lines, seriesOf("Lines", s))
	}
	return c
}

// Over returns a chart like Lines, of series over the positions x. It panics if x and the series
// differ in length.
func Over(x any, numbers ...any) *Chart {
	at := seriesOf("Over", x)
	c := &Chart{at: at.values}
	for i, s := range numbers {
		line := seriesOf("Over", s)
		if line.n != at.n {
			panic(fmt.Errorf("chart.Over: series %d has %d numbers, there are %d positions", i, line.n, at.n))
		}
		c.lines = append(c.lines, line)
	}
	return c
}

// Heat returns a heat map of a tensor, in which a row is the last dimension, or of a slice of
// slices of numbers with equal lengths. More than 16384 numbers are drawn as at most 48 rows of 96
// rectangles by the greatest finite number of each, which a tensor's device finds. Heat panics for
// other arguments.
func Heat(matrix any) *Chart {
	if t, ok := matrix.(tensor); ok {
		if g := gridOf(t); g != nil {
			return &Chart{heat: g}
		}
	}
	g := &grid{wide: 1, high: 1}
	if shaped, ok := matrix.(interface{ Shape() []int }); ok {
		shape := shaped.Shape()
		if len(shape) > 0 {
			g.columns = shape[len(shape)-1]
		}
		g.values = numbers("Heat", matrix)
	} else {
		rows := reflect.ValueOf(matrix)
		if rows.Kind() != reflect.Slice && rows.Kind() != reflect.Array {
			panic(fmt.Errorf("chart.Heat: a %T is no matrix: give it a tensor or a [][]float64", matrix))
		}
		for i := range rows.Len() {
			row := numbers("Heat", rows.Index(i).Interface())
			if i > 0 && len(row) != g.columns {
				panic(fmt.Errorf("chart.Heat: row %d has %d numbers, the first has %d", i, len(row), g.columns))
			}
			g.columns, g.values = len(row), append(g.values, row...)
		}
	}
	if len(g.values) == 0 || g.columns == 0 {
		panic(fmt.Errorf("chart.Heat: there are no numbers in the matrix"))
	}
	return &Chart{heat: g.reduced()}
}

// numbers returns the numbers in x, a tensor or a slice of numbers. It panics for other values;
// function is the caller, for the message.
func numbers(function string, x any) []float64 {
	if t, ok := x.(interface{ Float64s() []float64 }); ok {
		return t.Float64s()
	}
	v := reflect.ValueOf(x)
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Array {
		to := reflect.TypeFor[float64]()
		if kind := v.Type().Elem().Kind(); kind >= reflect.Int && kind <= reflect.Float64 {
			out := make([]float64, v.Len())
			for i := range out {
				out[i] = v.Index(i).Convert(to).Float()
			}
			return out
		}
	}
	panic(fmt.Errorf("chart.%s: a %T is no series of numbers: give it a tensor or a slice such as []float64", function, x))
}

func (c *Chart) name(i int) string {
	if i < len(c.Names) {
		return c.Names[i]
	}
	return fmt.Sprint("series ", i)
}

// blocks holds the characters of bars, by height.
var blocks = []rune(" ▁▂▃▄▅▆▇█")

// textWidth is the maximum width of a row of bars in characters.
const textWidth = 64

// String draws the chart in characters: a row of bars for each series or matrix row, scaled to the
// least and the greatest number. The last line gives these two numbers.
func (c *Chart) String() string {
	var rows [][]float64
	for _, line := range c.lines {
		rows = append(rows, line.values)
	}
	if c.heat != nil {
		rows = c.heat.rows()
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, row := range rows {
		for _, v := range row {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	var b strings.Builder
	if c.Title != "" {
		b.WriteString(c.Title + "\n")
	}
	for i, row := range rows {
		b.WriteByte('|')
		for _, v := range thinned(row) {
			b.WriteRune(bar(v, lo, hi))
		}
		b.WriteByte('|')
		if c.heat == nil && (len(rows) > 1 || len(c.Names) > 0) {
			b.WriteString(" " + c.name(i))
		}
		b.WriteByte('\n')
	}
	if lo > hi {
		return b.String() + "no numbers"
	}
	fmt.Fprintf(&b, "%.4g to %.4g", lo, hi)
	return b.String()
}

// bar returns the character for a number between lo and hi.
func bar(v, lo, hi float64) rune {
	switch {
	case math.IsNaN(v):
		return '?'
	case v >= hi:
		return blocks[len(blocks)-1]
	case v <= lo:
		return blocks[1]
	}
	return blocks[1+int((v-lo)/(hi-lo)*float64(len(blocks)-1))]
}

// thinned reduces a row to at most textWidth numbers: the greatest of each part.
func thinned(row []float64) []float64 {
	if len(row) <= textWidth {
		return row
	}
	out := make([]float64, textWidth)
	for i := range out {
		out[i] = slices.Max(row[i*len(row)/textWidth : (i+1)*len(row)/textWidth])
	}
	return out
}
