package inband

import (
	"reflect"
	"strings"
	"testing"
)

func encoded(t testing.TB, d Display) string {
	t.Helper()
	b, err := Encode(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var small = Display{Data: map[string]any{"text/plain": "x", "application/json": map[string]any{"a": 1.5}}, ID: "i", Update: true}

func TestSplit(t *testing.T) {
	big := Display{Data: map[string]any{"image/png": strings.Repeat("A", 3*chunk)}}
	other := Display{Data: map[string]any{"image/png": strings.Repeat("A", 3*chunk) + "B"}}
	if n := strings.Count(encoded(t, big), "\n"); n != 5 {
		t.Fatalf("a large display has %d lines", n)
	}
	both, one, two := []int{0, 1}, []int{0}, []int{1}
	lines := func(d Display) []string { return strings.SplitAfter(strings.TrimSuffix(encoded(t, d), "\n"), "\n") }
	bigLines, otherLines := lines(big), lines(other)
	bigLines[4] += "\n"
	otherLines[4] += "\n"
	type input struct {
		ranks []int
		text  string
	}
	for name, c := range map[string]struct {
		in   []input
		want []Piece
	}{
		"text": {[]input{{both, "a\nb\n"}}, []Piece{{both, "a\nb\n", nil}}},
		"between text": {[]input{{both, "a\n" + encoded(t, small) + "b"}},
			[]Piece{{both, "a\n", nil}, {both, "", &small}, {both, "b", nil}}},
		"in a line":        {[]input{{one, "a" + encoded(t, small)}}, []Piece{{one, "a", nil}, {one, "", &small}}},
		"twice":            {[]input{{one, encoded(t, small) + encoded(t, small)}}, []Piece{{one, "", &small}, {one, "", &small}}},
		"in several lines": {[]input{{both, encoded(t, big)}}, []Piece{{both, "", &big}}},
		"a rank is behind": {[]input{{one, bigLines[0]}, {both, bigLines[1]}}, nil},
		"a rank is behind, then not": {[]input{{one, bigLines[0]}, {two, bigLines[0]}, {both, strings.Join(bigLines[1:], "")}},
			[]Piece{{both, "", &big}}},
		"ranks differ": {[]input{{one, bigLines[0]}, {two, otherLines[0]}, {one, strings.Join(bigLines[1:], "")},
			{two, strings.Join(otherLines[1:], "")}}, []Piece{{one, "", &big}, {two, "", &other}}},
		"one that was not ended":  {[]input{{one, bigLines[0]}, {one, encoded(t, big)}}, []Piece{{one, "", &big}}},
		"what only looks like it": {[]input{{one, prefix + "nonsense\n"}}, []Piece{{one, prefix + "nonsense\n", nil}}},
		"what only looks like it, too": {[]input{{one, prefix + "nonsense" + suffix + "\n"}},
			[]Piece{{one, prefix + "nonsense" + suffix + "\n", nil}}},
	} {
		t.Run(name, func(t *testing.T) {
			var d Decoder
			var got []Piece
			for _, in := range c.in {
				got = append(got, d.Split(in.ranks, in.text)...)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%d pieces, want %d: %+v", len(got), len(c.want), got)
			}
		})
	}
}

func TestPlain(t *testing.T) {
	for want, d := range map[string]Display{
		"x\n":                      small,
		"":                         {Clear: true},
		"(image/png, text/html)\n": {Data: map[string]any{"text/html": "<b>", "image/png": ""}},
		"5\n":                      {Data: map[string]any{"text/plain": 5}},
	} {
		if got := d.Plain(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// FuzzSplit checks that no text is lost, and that a display is found in any surrounding text.
func FuzzSplit(f *testing.F) {
	f.Add("a\n", "b\n")
	f.Add(prefix, suffix+"\n")
	f.Add(prefix+"0123456789abcdef;1/1;", "x")
	f.Fuzz(func(t *testing.T, before, after string) {
		var d Decoder
		text := ""
		for _, p := range d.Split([]int{0}, after) {
			text += p.Text
		}
		if !strings.Contains(after, prefix) && text != after {
			t.Errorf("%q became %q", after, text)
		}
		if strings.Contains(before, prefix) {
			return
		}
		pieces := d.Split([]int{0}, before+encoded(t, small)+after)
		for _, p := range pieces {
			if p.Display != nil && reflect.DeepEqual(*p.Display, small) {
				return
			}
		}
		t.Errorf("the display is lost: %+v", pieces)
	})
}

// The size of a display is bounded, and a display that Encode accepts can be decoded.
func TestLargest(t *testing.T) {
	text := func(size int) string { return strings.Repeat("x", size) }
	for _, test := range []struct {
		size int
		data any
		want string
	}{
		{35 << 20, text(35 << 20), ""},
		{37 << 20, text(37 << 20), "it takes 37 MiB, and 36 are shown at most"},
		{20 << 20, text(20<<20) + strings.Repeat("<", 3<<20), "it takes 38 MiB, and 36 are shown at most"},
		{64 << 20, make([]byte, 64<<20), "it takes 85 MiB, and 36 are shown at most"},
	} {
		b, err := Encode(Display{Data: map[string]any{"text/html": test.data}})
		if test.want != "" {
			if err == nil || err.Error() != test.want {
				t.Errorf("%d bytes: %v, want %s", test.size, err, test.want)
			}
			continue
		}
		var d Decoder
		pieces := d.Split([]int{0}, string(b))
		if err != nil || len(pieces) != 1 || pieces[0].Display == nil || len(pieces[0].Display.Data["text/html"].(string)) != test.size {
			t.Errorf("%d bytes: %d pieces, %v", test.size, len(pieces), err)
		}
	}
}
