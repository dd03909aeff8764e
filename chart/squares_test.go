package chart

import (
	"bytes"
	"image/png"
	"math"
	"testing"
)

// No line between cells shows the page: a picture without paper is opaque there. A cell without a
// number stays empty.
func TestHeatHasNoSeams(t *testing.T) {
	const rows, columns = 7, 11 // their edges lie between pixels
	m := make([][]float64, rows)
	for i := range m {
		m[i] = make([]float64, columns)
		for j := range m[i] {
			m[i][j] = float64(i * j)
		}
	}
	m[3][5] = math.NaN()
	picture, err := png.Decode(bytes.NewReader(Heat(m).PNG()))
	if err != nil {
		t.Fatal(err)
	}
	bounds := picture.Bounds()
	opaque := func(x, y int) bool { _, _, _, a := picture.At(x, y).RGBA(); return a == 0xffff }
	// The rows of pixels through the middle of cells: from the first to the last opaque one, all are.
	for part := range rows {
		if part == 3 {
			continue
		}
		y := bounds.Dy()/20 + (2*part+1)*bounds.Dy()*8/10/(2*rows)
		holes, inside, run := 0, false, 0
		for x := bounds.Dx() / 4; x < bounds.Dx()*3/4; x++ {
			switch {
			case opaque(x, y):
				if inside && run > 0 && run < 4 {
					holes++
				}
				inside, run = true, 0
			case inside:
				run++
			}
		}
		if holes > 0 {
			t.Errorf("%d seams in the row of pixels %d", holes, y)
		}
	}
}
