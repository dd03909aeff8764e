// Package picture draws pictures and writes them as SVG on white paper, and as PNG without paper,
// which notebooks also show if they do not trust SVG. A Canvas has the drawing functions of
// gonum.org/v1/plot/vg/draw, a few functions of its own that count in pixels, and tips.
package picture
