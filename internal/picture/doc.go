// Package picture draws pictures on white paper and writes them as SVG and as PNG, which notebooks show also where
// they do not trust SVG. A Canvas has the drawing functions of gonum.org/v1/plot/vg/draw, a few of its own that count
// pixels, and tips.
package picture
