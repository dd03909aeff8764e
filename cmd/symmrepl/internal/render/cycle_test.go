package render

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

// A ring has each rank once and as many arrows, in the colours of the theme; it is well-formed.
func TestCycleSVG(t *testing.T) {
	got := CycleSVG([]int{0, 2, 1, 3})
	for text, want := range map[string]int{"<circle": 4, "Z\" fill=\"var(--jp-error-color1, #d32f2f)\"/>": 4, ">2</text>": 1, ">cycle of 4</text>": 1} {
		if n := strings.Count(got, text); n != want {
			t.Errorf("%q is there %d times, want %d:\n%s", text, n, want, got)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(got)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v in %s", err, got)
		}
	}
	if CycleSVG(nil) != "" || CycleSVG([]int{0}) != "" || CycleSVG(make([]int, 17)) != "" {
		t.Error("no cycle and a long one are drawn")
	}
}
