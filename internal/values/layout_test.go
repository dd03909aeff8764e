package values

import (
	"fmt"
	"go/format"
	"strings"
	"testing"
)

func TestBreak(t *testing.T) {
	long := strings.Repeat("x", 60)
	numbers := make([]string, 40)
	for i := range numbers {
		numbers[i] = fmt.Sprint(i * 100)
	}
	for _, c := range []struct{ in, want string }{
		{"[]int{1, 2}", "[]int{1, 2}"},
		{"P{A: \"" + long + "\", B: \"" + long + "\"}", "P{\n\tA: \"" + long + "\",\n\tB: \"" + long + "\",\n}"},
		{"&P{A: \"" + long + "\", B: []int{1, 2}, C: \"" + long + "\"}", "&P{\n\tA: \"" + long + "\",\n\tB: []int{1, 2},\n\tC: \"" +
			long + "\",\n}"},
		{"P{A: Q{A: \"" + long + "\", B: \"" + long + "\"}}", "P{\n\tA: Q{\n\t\tA: \"" + long + "\",\n\t\tB: \"" + long + "\",\n\t},\n}"},
		{"(**P)(&&P{A: \"" + long + "\", B: \"" + long + "\"})", "(**P)(&&P{A: \"" + long + "\", B: \"" + long + "\"})"},
		{"map[string]int{\"" + long + "\": 1, \"" + long + ",}\": 2}", "map[string]int{\n\t\"" + long + "\": 1,\n\t\"" + long + ",}\": 2,\n}"},
		{"[]float32{" + strings.Join(numbers, ", ") + ", … 24 more}", "[]float32{\n" +
			"\t0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1300, 1400, 1500, 1600, 1700,\n" +
			"\t1800, 1900, 2000, 2100, 2200, 2300, 2400, 2500, 2600, 2700, 2800, 2900, 3000, 3100, 3200, 3300,\n" +
			"\t3400, 3500, 3600, 3700, 3800, 3900, … 24 more\n}"},
		{"[]struct{A int; B string}{struct{A int; B string}{A: 1, B: \"" + long[30:] + "\"}, struct{A int; B string}{A: 1, B: \"\"}}",
			"[]struct{A int; B string}{\n\tstruct{A int; B string}{A: 1, B: \"" +
				long[30:] + "\"},\n\tstruct{A int; B string}{A: 1, B: \"\"},\n}"},
		{"[]func(int, string){func(int, string), func(int, string), nil, \"" + long + "\"}",
			"[]func(int, string){\n\tfunc(int, string), func(int, string), nil,\n\t\"" + long + "\",\n}"},
		{"f32[4] on cpu, symmetric [0 1 2 3], " + long + long, "f32[4] on cpu, symmetric [0 1 2 3], " + long + long},
		{"it's " + long + " {" + long, "it's " + long + " {" + long},
		{"a {" + long + long, "a {" + long + long},
		{"a } " + long + long, "a } " + long + long},
		{"P{\n" + long + ", " + long + "}", "P{\n" + long + ", " + long + "}"},
	} {
		if got := (Printed{Text: c.in}).Break(Width); got != c.want {
			t.Errorf("%s\nis broken into\n%s\nwant\n%s", c.in, got, c.want)
		}
	}
}

// TestGofmt checks that broken values are formatted as by gofmt.
func TestGofmt(t *testing.T) {
	long := strings.Repeat("x", 60)
	text := Printed{Text: "[]P{P{A: \"" + long + "\", Bc: []int{1, 2, 3}}, P{A: \"" + long + "\", Bc: []int{" +
		strings.Repeat("1000000, ", 30) + "1}}}"}.Break(Width)
	out, err := format.Source([]byte("package p\n\nvar v = " + text + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.ReplaceAll(string(out), ":  ", ": "); got != "package p\n\nvar v = "+text+"\n" {
		t.Errorf("gofmt makes of\n%s\nthis:\n%s", text, got)
	}
}

// FuzzBreak checks that Break removes only spaces at line ends, and adds only commas and line
// breaks.
func FuzzBreak(f *testing.F) {
	long := strings.Repeat("x", 101)
	f.Add("P{A: \"" + long + "\", B: 1}")
	f.Add("[]int{" + strings.Repeat("1, ", 100) + "… 3 more}")
	f.Add("{{" + long + ", 'a'}, (}), `")
	bare := strings.NewReplacer(" ", "", "\n", "", "\t", "", ",", "")
	f.Fuzz(func(t *testing.T, text string) {
		if got := (Printed{Text: text}).Break(Width); bare.Replace(got) != bare.Replace(text) {
			t.Errorf("%q became %q", text, got)
		}
	})
}

// TestSaid checks that values' descriptions of themselves are not altered when the values around
// them are broken.
func TestSaid(t *testing.T) {
	long := strings.Repeat("x", 60)
	for _, c := range []struct{ before, said, after, want string }{
		{"", "a, b { c, d } (" + long + long, "", "a, b { c, d } (" + long + long},
		{"P{A: ", "it's at [1, " + long, ", B: \"" + long + "\"}", "P{\n\tA: it's at [1, " + long + ",\n\tB: \"" + long + "\",\n}"},
		{"[]error{", "open {" + long + "}, x: y", ", " + long + "}", "[]error{\n\topen {" + long + "}, x: y,\n\t" + long + ",\n}"},
		{"[]T{", "", ", " + long + ", " + long + "}", "[]T{\n\t, " + long + ",\n\t" + long + ",\n}"},
	} {
		p := &Printer[int]{}
		p.Text(c.before)
		p.Said(c.said)
		p.Text(c.after)
		if got := (Printed{p.out.String(), p.said}).Break(Width); got != c.want {
			t.Errorf("%s|%s|%s\nis broken into\n%s\nwant\n%s", c.before, c.said, c.after, got, c.want)
		}
	}
}
