// Package chart draws numbers in cells: series as lines, matrices as heat maps.
//
//	chart.Lines(t)                            // a tensor, a slice of numbers, or several of them
//	chart.Over(sizes, times)                  // over positions; LogX and LogY make the axes logarithmic
//	c := chart.Heat(t)                        // rows are those of the last dimension
//	c.Title = "tokens by expert"
//	c
//
// A chart is an SVG where pictures can be shown and lines of characters where not. Page puts
// several charts into one picture. More than this, gonum.org/v1/plot can do: cells may import it.
package chart
