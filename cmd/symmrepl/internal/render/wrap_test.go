package render

import "testing"

func TestWrap(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"# A heading that is longer than the screen", "# A heading that is longer than the screen"},
		{"one two three four five six", "one two three\nfour five six"},
		{"one\ntwo three four\n\nnew", "one two three\nfour\n\nnew"},
		{"- one two three four\n- b\ntext", "- one two\n  three four\n- b text"},
		{"1. one two three four\n2. b\n10. c\ntext", "1. one two\n   three four\n2. b\n10. c text"},
		{"in the year\n1984. Then", "in the year\n1984. Then"},
		{"    code that is longer than it\n  is", "    code that is longer than it\n  is"},
		{"| a table | of columns |", "| a table | of columns |"},
		{"averyveryverylongword x", "averyveryverylongword\nx"},
		{"漢漢漢 漢漢漢 漢", "漢漢漢 漢漢漢\n漢"},
	} {
		if got := Wrap(test.text, 14); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
	if text := "one two three four"; Wrap(text, 0) != text {
		t.Error("the text is wrapped without a width")
	}
}
