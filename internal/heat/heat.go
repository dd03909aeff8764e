// Package heat draws matrices of numbers as small pictures.
//
// The colours are stops of viridis, by Smith and van der Walt for matplotlib, which grows lighter
// evenly and so can be read without its hues.
package heat

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"regexp"
)

var shades = []color.RGBA{
	{68, 1, 84, 255}, {72, 40, 120, 255}, {62, 74, 137, 255}, {49, 104, 142, 255}, {38, 130, 142, 255}, {31, 158, 137, 255},
	{53, 183, 121, 255}, {109, 205, 89, 255}, {180, 222, 44, 255}, {253, 231, 37, 255},
}

// none is the colour of a value that is no finite number.
var none = color.RGBA{128, 128, 128, 255}

// Shade returns the colour of a part, from 0 to 1, of a range.
func Shade(part float64) color.RGBA {
	at := min(max(part, 0), 1) * float64(len(shades)-1)
	low := min(int(at), len(shades)-2)
	mix := func(a, b uint8) uint8 {
		return uint8(math.Round(float64(a) + (at-float64(low))*(float64(b)-float64(a))))
	}
	a, b := shades[low], shades[low+1]
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

// Range returns the least and the greatest finite number; ok is false if there is none.
func Range(values []float64) (lo, hi float64, ok bool) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if finite(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return lo, hi, lo <= hi
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

const (
	side    = 288 // pixels that the longer side of a picture takes, if there are not more numbers
	shortly = 12  // pixels that the shorter side takes at least
	largest = 14  // pixels of a square at most
)

// Image returns a matrix as HTML: an image, and below it the scale of its colours. values are rows of
// beside numbers, each of which stands for a part of the rows and columns of the matrix; the image has
// the proportions of the matrix. What is not finite is grey. The images are PNGs in data URLs, which
// pages also show if they are not trusted. It returns "" if there is no finite number.
func Image(values []float64, beside, rows, columns int) string {
	lo, hi, ok := Range(values)
	if !ok {
		return ""
	}
	below := len(values) / beside
	element := min(side/float64(max(rows, columns)), largest)
	if element > 1 {
		element = math.Floor(element)
	}
	wide := max(int(math.Round(element*float64(columns))), beside, shortly)
	high := max(int(math.Round(element*float64(rows))), below, shortly)
	picture := draw(wide, high, func(x, y int) float64 {
		v := values[y*below/high*beside+x*beside/wide]
		if !finite(v) {
			return math.NaN()
		}
		if hi == lo {
			return 0
		}
		return (v/2 - lo/2) / (hi/2 - lo/2) // halves: the range may be larger than a number
	})
	scale := draw(scaleWide, scaleHigh, func(x, _ int) float64 { return float64(x) / (scaleWide - 1) })
	return fmt.Sprintf(`<span><img class="symm-heat" alt="heat map of %.4g to %.4g" %s><br><small>%.4g <img class="symm-scale" alt="to" %s> %.4g</small></span>`,
		lo, hi, picture, lo, scale, hi)
}

// The size of a scale.
const scaleWide, scaleHigh = 96, 8

// draw returns the attributes of an image whose points are parts, from 0 to 1, of the range of colours,
// NaN for no number.
func draw(wide, high int, at func(x, y int) float64) string {
	palette := make(color.Palette, 256)
	for i := range 255 {
		palette[i] = Shade(float64(i) / 254)
	}
	palette[255] = none
	picture := image.NewPaletted(image.Rect(0, 0, wide, high), palette)
	for y := range high {
		for x := range wide {
			index := uint8(255)
			if part := at(x, y); !math.IsNaN(part) {
				index = uint8(math.Round(part * 254))
			}
			picture.SetColorIndex(x, y, index)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		panic(fmt.Errorf("heat.Image: %w", err))
	}
	return fmt.Sprintf(`width="%d" height="%d" src="data:image/png;base64,%s"`, wide, high, base64.StdEncoding.EncodeToString(b.Bytes()))
}

var images = regexp.MustCompile(`<span><img class="symm-heat".*?</span>`)

// Without returns HTML without the images of Image.
func Without(html string) string { return images.ReplaceAllString(html, "") }
