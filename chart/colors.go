package chart

import (
	"image/color"
	"math"
)

// lineColors are colours that people with any kind of colour blindness can distinguish, on white
// paper: the palette of Okabe and Ito without its yellows.
var lineColors = []color.RGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {230, 159, 0, 255}, {86, 180, 233, 255}, {0, 0, 0, 255},
}

// shades are stops of viridis, which grows lighter evenly and so can be read without its hues.
var shades = []color.RGBA{
	{68, 1, 84, 255}, {72, 40, 120, 255}, {62, 74, 137, 255}, {49, 104, 142, 255}, {38, 130, 142, 255}, {31, 158, 137, 255},
	{53, 183, 121, 255},
	{109, 205, 89, 255}, {180, 222, 44, 255}, {253, 231, 37, 255},
}

// shade returns the colour of a part, from 0 to 1, of the range of a heat map.
func shade(part float64) color.Color {
	at := min(max(part, 0), 1) * float64(len(shades)-1)
	low := min(int(at), len(shades)-2)
	mix := func(a, b uint8) uint8 {
		return uint8(math.Round(float64(a) + (at-float64(low))*(float64(b)-float64(a))))
	}
	a, b := shades[low], shades[low+1]
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

// scale is a palette of gonum's: steps colours from the darkest to the lightest.
type scale int

func (s scale) Colors() []color.Color {
	all := make([]color.Color, s)
	for i := range all {
		all[i] = shade(float64(i) / float64(s-1))
	}
	return all
}
