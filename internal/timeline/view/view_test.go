package view

import (
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/internal/timeline"
)

const ms = 1000000

// hostile is a name that would be a script if a page took it as HTML.
const hostile = `k</script><script>alert(1)</script><img src=x onerror="alert(2)">'&amp;` + "\u2028]]>\x00"

// slice makes a slice; times are in milliseconds.
func slice(kind timeline.Kind, track timeline.Track, name string, begin, took int64, call int) timeline.Slice {
	return timeline.Slice{Kind: kind, Track: track, Name: name, At: "cell[3]:1", Begin: begin * ms, Took: took * ms, Call: call}
}

// ofTwo is a timeline of two ranks: rank 0 waits for rank 1 in a barrier, and puts on two streams
// while two messages overlap.
func ofTwo(name string) *timeline.Timeline {
	meets := func(s timeline.Slice) timeline.Slice { s.Meets = "world #1"; return s }
	b0, b1 := meets(slice(timeline.Operation, 0, "barrier", 0, 40, 1)), meets(slice(timeline.Operation, 0, "barrier", 30, 10, 1))
	w := meets(slice(timeline.Wait, 0, "wait", 10, 25, 1))
	w.Peers, w.Ended, w.For = []int{1}, []int{1}, "the barrier on channel 0"
	k := slice(timeline.Kernel, 1, name, 40, 20, 2)
	k.Grid, k.Block = []int{8, 1, 1}, []int{256, 1, 1}
	m, n := slice(timeline.Message, timeline.Network, "put", 42, 10, 2), slice(timeline.Message, timeline.Network, "put", 45, 10, 2)
	m.Bytes, m.Peers, n.Peers = 4096, []int{1}, []int{1}
	clock := timeline.Clock{Machine: "m", Resolution: 40}
	return timeline.Merge([]timeline.Rank{
		{Rank: 0, Source: "a test", Clock: clock,
			Slices: []timeline.Slice{slice(timeline.Cell, timeline.Cells, "cell[3]", 0, 60, 0), b0, w, slice(timeline.Operation, 1, name, 40, 20, 2), k, m, n}},
		{Rank: 1, Source: "a test", Clock: clock, Slices: []timeline.Slice{b1}},
	})
}

func TestScene(t *testing.T) {
	sc := sceneOf(ofTwo("gemm"))
	want := []row{{"rank 0  stream 0", true, 1, true}, {"rank 0  stream 1", false, 1, true}, {"rank 0  network", false, 2, false},
		{"rank 1  stream 0", true, 1, false}}
	if !reflect.DeepEqual(sc.rows, want) {
		t.Errorf("rows %+v", sc.rows)
	}
	if !reflect.DeepEqual(sc.names, []string{"barrier", "gemm", "put"}) || sc.took != 60*ms || sc.more != 0 {
		t.Errorf("%+v", sc)
	}
	var places []string
	for _, m := range sc.marks {
		places = append(places, fmt.Sprintf("%d %d %d %d %d %s", m.row, m.lane, m.shape, m.begin/ms, m.took/ms, m.name))
	}
	if got := strings.Join(places, "; "); got != "0 0 0 0 40 barrier; 0 0 2 10 25 wait; 1 0 0 40 20 gemm; 1 0 1 40 20 gemm; 2 0 0 42 10 put; 2 1 0 45 10 put; 3 0 0 30 10 barrier" {
		t.Error(got)
	}
	if !reflect.DeepEqual(sc.arrows, []arrow{{6, 1, false}}) {
		t.Errorf("arrows %+v", sc.arrows)
	}
	for at, tip := range map[int]string{
		1: "wait\nwaits for rank 1, ended by rank 1, for the barrier on channel 0\nat cell[3]:1\n25.0 ms from 10.0 ms to 35.0 ms",
		3: "gemm (kernel)\ngrid 8 × 1 × 1, block 256 × 1 × 1\nat cell[3]:1\n20.0 ms from 40.0 ms to 60.0 ms",
		4: "put (message)\n4096 bytes, to rank 1\nat cell[3]:1\n10.0 ms from 42.0 ms to 52.0 ms",
	} {
		if got := sc.marks[at].tip(); got != tip {
			t.Errorf("mark %d: %q, want %q", at, got, tip)
		}
	}
}

// Rows name the host where there are several.
func TestHosts(t *testing.T) {
	two := ofTwo("gemm")
	two.Ranks[1].Host = 1
	if got := sceneOf(two).rows[3].label; got != "rank 1 (host 1)  stream 0" {
		t.Error(got)
	}
}

// A scene keeps the longest slices, and says how many it left out.
func TestMost(t *testing.T) {
	var list []timeline.Slice
	for i := range most + 500 {
		s := slice(timeline.Operation, 0, "fill", int64(2*i), 1, i+1)
		if i%100 == 7 {
			s.Took++
		}
		list = append(list, s)
	}
	sc := sceneOf(timeline.Merge([]timeline.Rank{{Slices: list, Clock: timeline.Clock{Machine: "m"}}}))
	if len(sc.marks) != (most+500)/100 || sc.more != most+500-len(sc.marks) {
		t.Errorf("%d marks, %d left out", len(sc.marks), sc.more)
	}
	still := sc.svg(Light)
	if !strings.Contains(still, fmt.Sprintf("%d shorter ones are not shown", sc.more)) {
		t.Error("the picture does not say what it leaves out")
	}
	if n := strings.Count(still, "<title>"); n > len(sc.marks) || n < 100 {
		t.Errorf("%d boxes", n)
	}
}

// Many short slices are one box where they share a pixel.
func TestBoxesByPixel(t *testing.T) {
	var list []timeline.Slice
	for i := range most {
		list = append(list, slice(timeline.Operation, 0, "fill", int64(2*i), 1, i+1))
	}
	still := SVG(timeline.Merge([]timeline.Rank{{Slices: list, Clock: timeline.Clock{Machine: "m"}}}), Light)
	if n := strings.Count(still, "<title>"); n < 500 || n > width*2 {
		t.Errorf("%d boxes", n)
	}
}

// The names of elements and attributes that pictures have.
var (
	elements   = regexp.MustCompile(`^(svg|rect|path|text|title)$`)
	attributes = regexp.MustCompile(`^(xmlns|width|height|viewBox|font-family|font-size|fill|d|stroke|x|y|text-anchor|opacity|stroke-dasharray|pointer-events)$`)
)

// A picture is XML without scripts, whatever the ranks call their kernels.
func TestHostileSVG(t *testing.T) {
	for _, theme := range []Theme{Light, Dark} {
		d := xml.NewDecoder(strings.NewReader(SVG(ofTwo(hostile), theme)))
		titles := 0
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			switch e := token.(type) {
			case xml.StartElement:
				if !elements.MatchString(e.Name.Local) {
					t.Errorf("there is a %s", e.Name.Local)
				}
				for _, a := range e.Attr {
					if !attributes.MatchString(a.Name.Local) {
						t.Errorf("there is an attribute %s", a.Name.Local)
					}
				}
			case xml.CharData:
				if strings.HasPrefix(string(e), "k</script><script>alert(1)</script><img") {
					titles++
				}
			}
		}
		if titles < 2 {
			t.Errorf("the name stands in %d texts", titles)
		}
	}
}

var tag = regexp.MustCompile(`(?s)<(/?[a-zA-Z]+)`)

// A page has the elements that it is meant to have and no others, and the data of the script reads
// back as it was, but for what XML cannot have.
func TestHostileHTML(t *testing.T) {
	page := HTML(ofTwo(hostile))
	rest, js, found := strings.Cut(page, "</p>\n<script>\n")
	if !found || js != script+"</script>" || strings.Contains(script, "</script") {
		t.Fatal("the script does not stand at the end")
	}
	allowed := regexp.MustCompile(`^/?(div|img|script|table|thead|tbody|tr|th|td|p|b|small|br|details|summary)$`)
	counts := map[string]int{}
	for _, m := range tag.FindAllStringSubmatch(rest, -1) {
		if counts[m[1]]++; !allowed.MatchString(m[1]) {
			t.Errorf("there is a %s", m[1])
		}
	}
	if counts["img"] != 1 || counts["script"] != 1 || strings.Contains(rest, "onerror=\"") {
		t.Errorf("%v", counts)
	}
	_, data, _ := strings.Cut(rest, `<script type="application/json">`)
	data, _, _ = strings.Cut(data, "</script>")
	var d drawing
	if err := json.Unmarshal([]byte(data), &d); err != nil {
		t.Fatal(err)
	}
	if d.Texts[1] != strings.ReplaceAll(hostile, "\x00", "�") || d.Names != 3 || d.Rows[2] != [4]int{d.Rows[2][0], 0, 2, 0} ||
		d.Texts[d.Marks[3][6]] != "kernel" || d.Arrows[0] != [3]int{6, 1, 0} {
		t.Errorf("%+v", d)
	}
	_, still, _ := strings.Cut(rest, `src="data:image/svg+xml;base64,`)
	still, _, _ = strings.Cut(still, `"`)
	if svg, err := base64.StdEncoding.DecodeString(still); err != nil || string(svg) != SVG(ofTwo(hostile), Light) {
		t.Errorf("the still picture is %q, %v", svg, err)
	}
}

// The script has nothing that a notebook's page could load.
func TestNoNetwork(t *testing.T) {
	page := strings.ReplaceAll(HTML(ofTwo("gemm")), "http://www.w3.org/2000/svg", "")
	for _, word := range []string{"http:", "https:", "fetch(", "XMLHttpRequest", "import(", "innerHTML", "insertAdjacentHTML", "document.write", "eval("} {
		if strings.Contains(page, word) {
			t.Errorf("the page has %s", word)
		}
	}
}

func TestTables(t *testing.T) {
	text := tables(ofTwo("gemm"))
	for _, part := range []string{
		"<td>barrier</td><td>2</td><td>25.0 ms</td>", "<td>gemm</td><td>1</td><td>20.0 ms</td>", "<td>waits</td><td>1</td><td>25.0 ms</td>",
		"<tr><td>1</td><td>barrier</td><td>cell[3]:1</td><td>30.0 ms</td><td>5.00 ms</td></tr>",
		"<tr><td>0</td><td>35.0 ms</td><td>13.0 ms</td><td>37 %</td></tr>",
		"<p><b>Slowest: rank 1.</b> The others waited 25.0 ms for it, rank 0 longest: 25.0 ms in barrier at cell[3]:1, when rank 1 had nothing on its streams",
		"times on streams of rank 0-1: a test<br>clock of rank 0",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("there is no %s in\n%s", part, text)
		}
	}
}

func TestNothing(t *testing.T) {
	for _, empty := range []*timeline.Timeline{timeline.Merge(nil), timeline.Merge([]timeline.Rank{{}})} {
		if SVG(empty, Light) != "" || HTML(empty) != "" {
			t.Error("a timeline of nothing has a picture")
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		span, at, step int64
		text           string
	}{{60 * ms, 20 * ms, 10 * ms, "20 ms"}, {2500000, 500000, 500000, "0.5 ms"}, {70, 20, 10, "20 ns"}, {999, 400, 200, "400 ns"},
		{3000, 1000, 500, "1.0 µs"}, {12000 * ms, 4000 * ms, 2000 * ms, "4 s"}} {
		if got := step(c.span, 8); got != c.step {
			t.Errorf("ticks of %d are %d apart, want %d", c.span, got, c.step)
		}
		if got := tick(c.at, c.span, c.step); got != c.text {
			t.Errorf("%d of %d is %q, want %q", c.at, c.span, got, c.text)
		}
	}
}

// contrast of two colours as WCAG 2 defines it.
func contrast(a, b string) float64 {
	light := func(colour string) (sum float64) {
		for i, part := range []float64{0.2126, 0.7152, 0.0722} {
			n, _ := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
			v := float64(n) / 255
			if v <= 0.04045 {
				v /= 12.92
			} else {
				v = math.Pow((v+0.055)/1.055, 2.4)
			}
			sum += part * v
		}
		return sum + 0.05
	}
	x, y := light(a), light(b)
	return max(x/y, y/x)
}

// Marks stand out from the paper of both themes, and words can be read.
func TestContrast(t *testing.T) {
	for _, theme := range []Theme{Light, Dark} {
		for _, c := range append([]string{waits}, colours...) {
			if got := contrast(c, theme.Paper); got < 3 {
				t.Errorf("%s on %s has a contrast of %.2f", c, theme.Paper, got)
			}
		}
		if got := contrast(theme.Ink, theme.Paper); got < 7 {
			t.Errorf("words on %s have a contrast of %.2f", theme.Paper, got)
		}
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(append([]string{waits}, colours...))))); n != len(colours)+1 || len(colours) < listed {
		t.Errorf("%d colours, %d of them different, for %d names in the legend", len(colours)+1, n, listed)
	}
	for _, c := range colours {
		if got := contrast("#ffffff", c); got < 3 {
			t.Errorf("names on %s have a contrast of %.2f", c, got)
		}
	}
}
