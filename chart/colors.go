package chart

import (
	"image/color"

	"github.com/symmrepl/symmrepl/internal/heat"
)

// lineColors are colours that people with any kind of colour blindness can distinguish, on white
// paper: the palette of Okabe and Ito without its yellows.
var lineColors = []color.RGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {230, 159, 0, 255}, {86, 180, 233, 255},
	{0, 0, 0, 255},
}

// scale is a palette of gonum's: steps colours from the darkest to the lightest.
type scale int

func (s scale) Colors() []color.Color {
	all := make([]color.Color, s)
	for i := range all {
		all[i] = heat.Shade(float64(i) / float64(s-1))
	}
	return all
}
