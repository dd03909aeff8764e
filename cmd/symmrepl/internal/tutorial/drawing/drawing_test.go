package drawing

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The colours of the pictures. Words in boxes are white.
const (
	blue   = "#3a6ea5"
	green  = "#21803c"
	brown  = "#a0622d"
	violet = "#7a5fb0"
	red    = "#b5406b"
	teal   = "#0f7f81"
	grey   = "#787878" // of words on the paper and of edges
	white  = "#ffffff"
)

var colours = []string{blue, green, brown, violet, red, teal, grey}

// The size of words, and at least the width of one letter, in pixels.
const (
	fontSize = 13
	letter   = 7.2
)

// The pictures fit their sheets, their words fit their boxes, and they are well-formed.
func TestPictures(t *testing.T) {
	names := Names()
	if len(names) < 25 {
		t.Errorf("there are only %q", names)
	}
	for _, name := range names {
		svg, err := SVG(name)
		if err != nil {
			t.Error(err)
		}
		for _, fault := range faults(svg) {
			t.Errorf("%s.svg: %s", name, fault)
		}
	}
	if _, err := SVG("nosuch"); err == nil || !strings.Contains(err.Error(), `there is no picture "nosuch"`) {
		t.Error(err)
	}
}

// The check of the pictures finds shapes and words that do not fit.
func TestShapes(t *testing.T) {
	const sheet = `<svg width="100" height="80" viewBox="0 0 100 80" font-size="13">%s</svg>`
	const box = `<rect x="10" y="10" width="40" height="30" fill="#3a6ea5"/>`
	for shape, want := range map[string]string{
		box + `<text x="30" y="22" text-anchor="middle" fill="#ffffff">words</text>`:  "",
		box + `<text x="30" y="22" text-anchor="middle" fill="#ffffff">longer</text>`: `"longer" in a box of 40`,
		box + `<text x="70" y="22" text-anchor="middle" fill="#ffffff">word</text>`:   `"word" is white on the paper`,
		`<text x="99" y="70" text-anchor="middle" fill="#787878">word</text>`:         `"word" leaves the sheet`,
		`<text x="99" y="70" text-anchor="end" fill="#787878">word</text>`:            "",
		`<text x="9" y="9" text-anchor="start" fill="#787878">word</text>`:            `"word" leaves the sheet`,
		`<circle cx="9" cy="30" r="10" fill="#b5406b"/>`:                              "circle leaves the sheet",
		`<rect x="70" y="10" width="40" height="30" fill="none" stroke="#787878"/>`:   "rect leaves the sheet",
		`<path d="M0 50L20 50L20 81" fill="none" stroke="#21803c"/>`:                  "path leaves the sheet",
		`<path d="M0 50L20 50" fill="none" stroke="#21803d"/>`:                        "#21803d is no colour of the pictures",
		`<ellipse cx="9"/>`: "ellipse is not checked",
		`<rect x="1">`:      "XML syntax error",
	} {
		got := strings.Join(faults(fmt.Sprintf(sheet, shape)), "; ")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", shape, got, want)
		}
	}
}

// area is a rectangle of a sheet.
type area struct{ x, y, w, h float64 }

func (a area) within(b area) bool {
	return a.x >= b.x && a.y >= b.y && a.x+a.w <= b.x+b.w && a.y+a.h <= b.y+b.h
}

var number = regexp.MustCompile(`-?[0-9.]+`)

// faults lists the shapes and words that do not fit in a picture.
func faults(svg string) (list []string) {
	fault := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	var sheet area
	var boxes []area // that are filled, the last on top
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if err == io.EOF {
			return list
		} else if err != nil {
			return append(list, err.Error())
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		has := map[string]string{}
		for _, a := range start.Attr {
			has[a.Name.Local] = a.Value
		}
		at := func(name string) float64 {
			v, _ := strconv.ParseFloat(has[name], 64)
			return v
		}
		for _, name := range []string{"fill", "stroke"} {
			if c := has[name]; c != "" && c != "none" && c != white && !slices.Contains(colours, c) {
				fault("%s is no colour of the pictures", c)
			}
		}
		shape := area{at("x"), at("y"), at("width"), at("height")}
		switch start.Name.Local {
		case "svg":
			sheet = shape
			if at("font-size") != fontSize || has["viewBox"] != fmt.Sprintf("0 0 %g %g", sheet.w, sheet.h) {
				fault("the sheet is %v", has)
			}
			continue
		case "rect":
		case "circle":
			r := at("r")
			shape = area{at("cx") - r, at("cy") - r, 2 * r, 2 * r}
		case "path":
			places := number.FindAllString(has["d"], -1)
			for i, place := range places {
				v, _ := strconv.ParseFloat(place, 64)
				if v < 0 || v > []float64{sheet.w, sheet.h}[i%2] {
					fault("path leaves the sheet: %s", has["d"])
				}
			}
			continue
		case "text":
			var line string
			if err := d.DecodeElement(&line, &start); err != nil {
				return append(list, err.Error())
			}
			w := float64(len([]rune(line))) * letter
			words := area{shape.x - map[string]float64{"middle": w / 2, "end": w}[has["text-anchor"]], shape.y - fontSize, w, fontSize + 3}
			if !words.within(sheet) {
				fault("%q leaves the sheet", line)
			}
			if has["fill"] != white {
				continue
			}
			i := len(boxes) - 1
			for i >= 0 && !(area{shape.x, shape.y, 0, 0}).within(boxes[i]) {
				i--
			}
			if i < 0 {
				fault("%q is white on the paper", line)
			} else if w > boxes[i].w {
				fault("%q in a box of %g", line, boxes[i].w)
			}
			continue
		default:
			fault("%s is not checked", start.Name.Local)
			continue
		}
		if !shape.within(sheet) {
			fault("%s leaves the sheet: %v", start.Name.Local, has)
		}
		if has["fill"] != "none" {
			boxes = append(boxes, shape)
		}
	}
}

// Colours stand out from the papers of JupyterLab's themes by 3 : 1 at least, words by 4.2 : 1, and
// words in boxes by 4.5 : 1 except in grey ones.
func TestColours(t *testing.T) {
	for _, c := range colours {
		least, inBox := 3.0, 4.5
		if c == grey {
			least, inBox = 4.2, 4.2
		}
		for _, paper := range []string{"#ffffff", "#111111"} {
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
func contrast(a, b string) float64 {
	light, dark := luminance(a), luminance(b)
	if light < dark {
		light, dark = dark, light
	}
	return (light + 0.05) / (dark + 0.05)
}

func luminance(c string) float64 {
	var parts [3]int
	fmt.Sscanf(c, "#%02x%02x%02x", &parts[0], &parts[1], &parts[2])
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
