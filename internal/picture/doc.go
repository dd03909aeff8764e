// Package picture draws pictures on white paper and writes them as SVG and as PNG, which notebooks
// also show if they do not trust SVG; a PNG may also have no paper. A Canvas has the drawing functions of
// gonum.org/v1/plot/vg/draw, a few functions of its own that count in pixels, and tips.
package picture
