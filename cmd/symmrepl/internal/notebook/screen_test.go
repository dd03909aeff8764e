package notebook

import "testing"

func TestWholeRunes(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "aé": 3, "a\xc3": 1, "\xf0\x9d\x84": 0, "x\x80\x80\x80\x80": 5} {
		if got := wholeRunes([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestValid(t *testing.T) {
	for text, want := range map[string]string{"": "", "é\x00": "é\x00", "\xff\xfea": `\xff\xfea`, "a\xc3": `a\xc3`, "\ufffd\x80": "\ufffd\\x80"} {
		if got := valid(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
