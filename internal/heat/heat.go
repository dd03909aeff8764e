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

// none is the colour of what is no finite number.
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

// Image returns rows of the given number of columns as an image element of HTML: a PNG in a data
// URL, which pages also show if they are not trusted. Each number is a square; what is not finite
// is grey. It returns "" if there is no finite number.
func Image(values []float64, columns int) string {
	lo, hi, ok := Range(values)
	if !ok {
		return ""
	}
	rows := len(values) / columns
	square := min(max(side/max(rows, columns), 1), largest)
	wide, high := square, square
	if rows*high < shortly {
		high = (shortly + rows - 1) / rows
	}
	if columns*wide < shortly {
		wide = (shortly + columns - 1) / columns
	}
	palette := make(color.Palette, 256)
	for i := range 255 {
		palette[i] = Shade(float64(i) / 254)
	}
	palette[255] = none
	picture := image.NewPaletted(image.Rect(0, 0, columns*wide, rows*high), palette)
	for y := range rows * high {
		for x := range columns * wide {
			index := uint8(255)
			if v := values[y/high*columns+x/wide]; finite(v) {
				index = 0
				if hi > lo {
					index = uint8(math.Round((v - lo) / (hi - lo) * 254))
				}
			}
			picture.SetColorIndex(x, y, index)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		panic(fmt.Errorf("heat.Image: %w", err))
	}
	return fmt.Sprintf(`<img class="symm-heat" alt="heat map of %.4g to %.4g" width="%d" height="%d" src="data:image/png;base64,%s">`, lo, hi, columns*wide, rows*high,
		base64.StdEncoding.EncodeToString(b.Bytes()))
}

var images = regexp.MustCompile(`<img class="symm-heat"[^>]*>`)

// Without returns HTML without the images of Image.
func Without(html string) string { return images.ReplaceAllString(html, "") }
