package chart

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot"

	"github.com/symmrepl/symmrepl/internal/heat"
)

func labels(marks []plot.Tick) string {
	var all []string
	for _, m := range marks {
		all = append(all, m.Label)
	}
	return strings.Join(all, " ")
}

func TestTicks(t *testing.T) {
	for want, got := range map[string][]plot.Tick{
		"0 1 2 3":                    ticks{whole: true}.Ticks(-0.15, 3.15),
		"0 10 20 30 40 50 60":        ticks{whole: true}.Ticks(-3, 62),
		"-1.0 -0.5 0 0.5 1.0":        ticks{}.Ticks(-1.1, 1.1),
		"0 0.02 0.04 0.06 0.08 0.10": ticks{}.Ticks(0, 0.1),
		"0 5e+05 1.0e+06 1.5e+06":    ticks{}.Ticks(0, 1.6e6),
		"100000 200000 300000 400000 500000 600000 700000": ticks{}.Ticks(90_000, 710_000),
		"7": ticks{whole: true}.Ticks(6.5, 7.5),
	} {
		if got != nil && labels(got) != want {
			t.Errorf("%s, want %s", labels(got), want)
		}
	}
	p := Heat([][]int{{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}}).plot()
	if x, y := labels(p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max)), labels(p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max)); x != "0 1 2 3" ||
		y != "3 2 1 0" {
		t.Errorf("a heat map of four ranks has the columns %s and the rows %s", x, y)
	}
}

// pixels returns a chart as a picture.
func pixels(t *testing.T, c *Chart) image.Image {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(c.PNG()))
	if err != nil {
		t.Fatal(err)
	}
	if size := picture.Bounds().Size(); size != (image.Point{480, 288}) {
		t.Fatalf("the picture has %v points", size)
	}
	return picture
}

func is(c color.Color, want color.RGBA) bool {
	r, g, b, _ := c.RGBA()
	return uint8(r>>8) == want.R && uint8(g>>8) == want.G && uint8(b>>8) == want.B
}

// With any texts no drawing reaches the border of a picture, so nothing is cut off; and the border
// is transparent.
func TestNothingIsClipped(t *testing.T) {
	long := strings.Repeat("a long text ", 12)
	lines := Over([]float64{1e-9, 123456789}, []float64{-1e12, 1e12}, []int{4, 5})
	lines.Title, lines.X, lines.Y, lines.Names = long, "x", "y", []string{long, "short"}
	heat := Heat([][]float64{{-123456.789, math.NaN()}, {3, 1e6}})
	heat.Title = long
	many := Lines()
	for i := range 16 {
		many.lines = append(many.lines, series{values: []float64{float64(i), float64(2 * i)}, step: 1})
	}
	for name, c := range map[string]*Chart{"lines": lines, "heat map": heat, "many lines": many, "one point": Lines([]int{7}),
		"no point": Lines([]int{}), "one value": Heat([][]int{{3}})} {
		picture := pixels(t, c)
		for x := range 480 {
			for y := range 288 {
				_, _, _, alpha := picture.At(x, y).RGBA()
				if border := x == 0 || y == 0 || x == 479 || y == 287; border && alpha != 0 {
					t.Fatalf("%s: %v at %d, %d", name, picture.At(x, y), x, y)
				}
			}
		}
	}
}

// The legend stands beside the lines, wherever they run.
func TestLegendIsBesideTheLines(t *testing.T) {
	c := Lines(constant(10, 1), constant(10, 0)) // along the top and the bottom
	c.Names = []string{"above", "below"}
	picture := pixels(t, c)
	row := func(line int) (columns []int, at int) {
		for y := range 288 {
			columns = columns[:0]
			for x := range 480 {
				if is(picture.At(x, y), lineColors[line]) {
					columns = append(columns, x)
				}
			}
			if len(columns) > 200 {
				return columns, y
			}
		}
		t.Fatalf("line %d is not there", line)
		return nil, 0
	}
	for line := range 2 {
		columns, at := row(line)
		for i := 1; i < len(columns); i++ {
			if columns[i]-columns[i-1] > 2 {
				t.Errorf("something covers line %d, at %d, between %d and %d", line, at, columns[i-1], columns[i])
			}
		}
	}
}

// Lines also differ for people who see no red or no green; shades grow lighter from the first to
// the last.
func TestColors(t *testing.T) {
	seen := map[string][3][3]float64{ // how linear red, green and blue look, by Machado, Oliveira and Fernandes 2009
		"everybody":     {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		"no red cones":  {{0.152, 1.053, -0.205}, {0.115, 0.786, 0.099}, {-0.004, -0.048, 1.052}},
		"no green ones": {{0.367, 0.861, -0.228}, {0.280, 0.673, 0.047}, {-0.012, 0.043, 0.969}},
		"no blue ones":  {{1.256, -0.077, -0.179}, {-0.078, 0.931, 0.148}, {0.005, 0.691, 0.304}},
	}
	linear := func(v uint8) float64 {
		if s := float64(v) / 255; s > 0.04045 {
			return math.Pow((s+0.055)/1.055, 2.4)
		}
		return float64(v) / 255 / 12.92
	}
	for who, matrix := range seen {
		look := func(c color.RGBA) (out [3]float64) {
			in := [3]float64{linear(c.R), linear(c.G), linear(c.B)}
			for i, row := range matrix {
				out[i] = math.Cbrt(max(0, row[0]*in[0]+row[1]*in[1]+row[2]*in[2])) // about as bright as it looks
			}
			return out
		}
		for i, a := range lineColors {
			for _, b := range lineColors[:i] {
				x, y := look(a), look(b)
				if d := math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2]); d < 0.09 {
					t.Errorf("%s: %v and %v look alike: %.2f", who, a, b, d)
				}
			}
		}
	}
	last := -1.0
	for i := range 101 {
		c := heat.Shade(float64(i) / 100)
		light := 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
		if light <= last {
			t.Errorf("shade %d is not lighter than the one before", i)
		}
		last = light
	}
}
