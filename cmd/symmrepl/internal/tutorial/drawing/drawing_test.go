package drawing

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
)

// Shapes appear at the places where they were drawn.
func TestShapes(t *testing.T) {
	s := &sheet{width: 100, height: 80}
	s.box(10, 10, 40, 30, blue, "a", "<b>")
	s.frame(1, 2, 98, 70, "f")
	s.disc(70, 30, 10, red, "c")
	s.words(50, 70, middle, "word")
	s.arrow(0, 50, 20, 50, green)
	s.signal(20, 0, 20, 40, grey)
	s.path(grey, 0, 0, 10, 0, 10, 20)
	const want = `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="80" viewBox="0 0 100 80" font-family="Liberation Sans,Arial,Helvetica,sans-serif" font-size="13">
<rect x="10" y="10" width="40" height="30" rx="4" fill="#3a6ea5"/>
<text x="30" y="22" text-anchor="middle" fill="#ffffff">a</text>
<text x="30" y="38" text-anchor="middle" fill="#ffffff">&lt;b&gt;</text>
<rect x="1" y="2" width="98" height="70" rx="6" fill="none" stroke="#787878" stroke-width="1.5"/>
<text x="9" y="19" text-anchor="start" fill="#787878">f</text>
<circle cx="70" cy="30" r="10" fill="#b5406b"/>
<text x="70" y="34" text-anchor="middle" fill="#ffffff">c</text>
<text x="50" y="70" text-anchor="middle" fill="#787878">word</text>
<path d="M0 50L20 50" fill="none" stroke="#21803c" stroke-width="2"/>
<path d="M20 50L11.0 46.0L11.0 54.0Z" fill="#21803c"/>
<path d="M20 0L20 40" fill="none" stroke="#787878" stroke-width="2" stroke-dasharray="5 4"/>
<path d="M20 40L24.0 31.0L16.0 31.0Z" fill="#787878"/>
<path d="M0 0L10 0L10 20" fill="none" stroke="#787878" stroke-width="2"/>
<path d="M10 20L14.0 11.0L6.0 11.0Z" fill="#787878"/>
</svg>
`
	if got := s.String(); got != want || len(s.outside) != 0 {
		t.Errorf("%s\nwant\n%s\noutside: %q", got, want, s.outside)
	}
	s.words(99, 70, middle, "word")
	s.box(10, 10, 10, 10, blue, "word")
	if len(s.outside) != 2 {
		t.Errorf("outside: %q", s.outside)
	}
}

// The pictures fit their sheets, their words fit their boxes, and they are well-formed.
func TestPictures(t *testing.T) {
	for name, d := range pictures {
		s := &sheet{width: d.width, height: d.height}
		if d.draw(s); len(s.outside) > 0 {
			t.Errorf("%s: does not fit: %q", name, s.outside)
		}
		svg, err := SVG(name)
		if err != nil || svg != s.String() {
			t.Errorf("%s: %v", name, err)
		}
		for d := xml.NewDecoder(strings.NewReader(svg)); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, svg)
			}
		}
	}
	if _, err := SVG("nosuch"); err == nil || !strings.Contains(err.Error(), `there is no picture "nosuch"`) {
		t.Error(err)
	}
}

// Colours stand out from the papers of JupyterLab's themes by 3 : 1 at least, words by 4.2 : 1, and
// words in boxes by 4.5 : 1 except in grey ones.
func TestColours(t *testing.T) {
	for _, c := range append([]colour{grey}, several...) {
		least, inBox := 3.0, 4.5
		if c == grey {
			least, inBox = 4.2, 4.2
		}
		for _, paper := range []colour{"#ffffff", "#111111"} {
			if got := contrast(c, paper); got < least {
				t.Errorf("%s on %s has a contrast of %.2f, want %.1f", c, paper, got, least)
			}
		}
		if got := contrast(c, white); got < inBox {
			t.Errorf("words in a box of %s have a contrast of %.2f, want %.1f", c, got, inBox)
		}
	}
}

// contrast returns the contrast as WCAG 2 defines it.
func contrast(a, b colour) float64 {
	light, dark := luminance(a), luminance(b)
	if light < dark {
		light, dark = dark, light
	}
	return (light + 0.05) / (dark + 0.05)
}

func luminance(c colour) float64 {
	var parts [3]int
	fmt.Sscanf(string(c), "#%02x%02x%02x", &parts[0], &parts[1], &parts[2])
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		x := float64(parts[i]) / 255
		if x <= 0.03928 {
			x /= 12.92
		} else {
			x = math.Pow((x+0.055)/1.055, 2.4)
		}
		sum += weight * x
	}
	return sum
}
