// Package chart draws numbers in cells: series as lines, matrices as heat maps.
//
//	chart.Lines(t)                            // tensors or slices of numbers, over their indices
//	chart.Over(sizes, times)                  // over given positions; LogX and LogY make the axes logarithmic
//	c := chart.Heat(t)                        // a row is the last dimension
//	c.Title = "tokens by expert"
//	c
//
// Many numbers are drawn from the extremes of parts, as far as a picture shows them. Of a tensor,
// its device finds these, and they alone are read.
//
// Front ends that show pictures show a chart as SVG; others show it as lines of characters. Page
// combines several charts into one picture. For more, cells can import gonum.org/v1/plot.
package chart
