package render

import (
	"bytes"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

func TestFit(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"fits in width", "fits in width"},
		{"one two three four five", "one two three\n  four five"},
		{"  one two three four", "  one two\n    three four"},
		{"a  b  one two three", "a  b  one two\n      three"},
		{"rank 2      waits for", "rank 2\n  waits for"}, // the right column has no room
		{"averyveryverylongword x y", "averyveryverylongword\n  x y"},
		{"averyveryverylongword", "averyveryverylongword"},
		{"one two three four\n\nnew\n", "one two three\n  four\n\nnew\n"},
		{"漢漢漢 漢漢漢 漢", "漢漢漢 漢漢漢\n  漢"},
	} {
		if got := Fit(test.text, 14); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
	if text := "one two three four"; Fit(text, 0) != text {
		t.Error("the text is broken without a width")
	}
}

// On a terminal, the session's remarks and errors are broken between words, with the prefix before
// each part. Output and values are not broken.
func TestPrinterFits(t *testing.T) {
	var out bytes.Buffer
	p := New(&out, &out, 2, false)
	p.Columns = func() int { return 30 }
	p.Note([]int{1}, "the worker was killed by the kernel")
	p.Output(session.Output{Ranks: []int{0}, Stream: session.Stdout, Text: "what a cell prints stays as it is printed\n"})
	p.Error(&session.Error{Ranks: []int{0, 1}, Peer: -1, Kind: session.KindType, Msg: "undefined: a long name of something",
		Hint:   "did you mean another thing?",
		Source: "a line of source that is not broken", Column: 1, Line: 1})
	p.Fail("no command is called that, as far as is known")
	want := `[1] the worker was killed by
[1]   the kernel
[0] what a cell prints stays as it is printed
[0,1] undefined: a long name
[0,1]   of something
[0,1]     a line of source that is not broken
[0,1]     ^
[0,1]     hint: did you mean
[0,1]       another thing?
no command is called that, as
  far as is known
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
