package gotokens

import (
	"fmt"
	"go/token"
	"strings"
	"testing"
)

func TestTokens(t *testing.T) {
	for text, want := range map[string]string{
		"":               "",
		"f(x) // c\n":    "IDENT f 0 0|(  1 1|IDENT x 2 1|)  3 0|COMMENT // c 5 0|; \n 9 0",
		"x := \"a\nb":    "IDENT x 0 0|:=  2 0|STRING \"a 5 0 open|; \n 7 0|IDENT b 8 0|; \n 9 0",
		"} else {":       "}  0 0|else else 2 0|{  7 1",
		"a; /* b":        "IDENT a 0 0|; ; 1 0|COMMENT /* b 3 0 open",
		"$ ls":           "ILLEGAL $ 0 0|IDENT ls 2 0|; \n 4 0",
		"//line x:9\n(`": "COMMENT //line x:9 0 0|(  11 1|STRING ` 12 1 open|; \n 13 1",
	} {
		var got []string
		for tok := range WithComments(text) {
			s := fmt.Sprintf("%v %s %d %d", tok.Kind, tok.Text, tok.At, tok.Depth)
			if tok.Open {
				s += " open"
			}
			got = append(got, s)
		}
		if all := strings.Join(got, "|"); all != want {
			t.Errorf("%q: %q, want %q", text, all, want)
		}
	}
	for tok := range All("a /* b */ c") {
		if tok.Kind == token.COMMENT {
			t.Error("All yields a comment")
		}
	}
}

func TestEnd(t *testing.T) {
	for text, want := range map[string]string{
		"f(": "1 false", "f(\"(\", '{' /* ( */": "1 false", "} else {": "1 false", "))": "0 false", "x := `a\n(": "0 true",
		"`a` + `": "0 true", "`a`": "0 false", "'`": "0 false", "\"`": "0 false", "// `": "0 false",
	} {
		if got := fmt.Sprint(Depth(text), InRaw(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
