package command

import (
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
)

// svgOf returns a picture's SVG. Its PNG has to be of the same size.
func svgOf(t *testing.T, s *sketch) string {
	t.Helper()
	svg, _ := s.data()["image/svg+xml"].(string)
	width, height := attribute(svg, "width"), attribute(svg, "height")
	if got := pngOf(t, s).Bounds().Max; got != image.Pt(width, height) {
		t.Errorf("the PNG has %v pixels, the SVG %d by %d", got, width, height)
	}
	return svg
}

// pngOf returns a picture's PNG.
func pngOf(t *testing.T, s *sketch) image.Image {
	t.Helper()
	text, _ := s.data()["image/png"].(string)
	picture, err := png.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// What is drawn is where it is said to be, in both forms, on white.
func TestSketch(t *testing.T) {
	s := newSketch(100, 60)
	s.box(10, 20, 30, 10, "#2a9d4a", "a & b")
	s.line(0, 50, 100, 50, "#3a6ea5")
	s.disc(80, 20, 10, "#eeeeee")
	picture := pngOf(t, s)
	for at, want := range map[image.Point]color.Color{
		{25, 25}: rgb("#2a9d4a"), {25, 35}: color.White, {9, 25}: color.White, {50, 49}: rgb("#3a6ea5"), {80, 20}: rgb("#eeeeee"), {92, 20}: color.White,
	} {
		if got := color.NRGBAModel.Convert(picture.At(at.X, at.Y)); got != color.NRGBAModel.Convert(want) {
			t.Errorf("the pixel at %v is %v, want %v", at, got, want)
		}
	}
	want := `<rect x="10.0" y="20.0" width="30.0" height="10" fill="#2a9d4a"><title>a &amp; b</title></rect>` +
		`<line x1="0.0" y1="50.0" x2="100.0" y2="50.0" stroke="#3a6ea5" stroke-width="2"/><circle cx="80.0" cy="20.0" r="10" fill="#eeeeee" stroke="#333333"/></svg>`
	if svg := svgOf(t, s); !strings.HasSuffix(svg, want) {
		t.Errorf("%s\nwant at its end\n%s", svg, want)
	}
}

// Words take their place by their anchor.
func TestSketchWords(t *testing.T) {
	for anchor, begin := range map[string]int{"start": 50, "middle": 38, "end": 25} {
		s := newSketch(100, 20)
		s.words(50, 14, anchor, "rank")
		if got := leftmost(pngOf(t, s)); got < begin-1 || got > begin+3 {
			t.Errorf("%s: the words begin at %d, want about %d", anchor, got, begin)
		}
	}
}

// leftmost returns the first column with a pixel that is not white.
func leftmost(picture image.Image) int {
	size := picture.Bounds().Max
	for x := range size.X {
		for y := range size.Y {
			if r, g, b, _ := picture.At(x, y).RGBA(); r+g+b < 3*0xffff {
				return x
			}
		}
	}
	return size.X
}

// attribute returns the first number of that name in an SVG.
func attribute(svg, name string) (n int) {
	_, rest, _ := strings.Cut(svg, name+`="`)
	for _, digit := range rest[:max(0, strings.Index(rest, `"`))] {
		n = 10*n + int(digit-'0')
	}
	return n
}
