package term

import (
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

func TestRespelled(t *testing.T) {
	for _, c := range []struct{ candidates, word, want string }{
		{"Println", "println", "Println"},
		{"Println", "Print", ""},
		{"ToUpper ToUpperSpecial", "toup", "ToUpper"},
		{"Set Show", "s", "S"},
		{"Show SHA", "sh", ""},
		{"", "x", ""},
		{"größer größte", "GRÖ", "größ"},
	} {
		var candidates []session.Candidate
		for _, text := range strings.Fields(c.candidates) {
			candidates = append(candidates, session.Candidate{Name: text})
		}
		if got := respelled(candidates, c.word); got != c.want {
			t.Errorf("%q for %q: %q, want %q", c.candidates, c.word, got, c.want)
		}
	}
}

func TestInsertedKeysComeFirst(t *testing.T) {
	k := feed("later\r")
	k.insert(backspace + "now ")
	if got, _ := read(t, k); got != "\x7fnow later\r" {
		t.Errorf("read %q", got)
	}
}
