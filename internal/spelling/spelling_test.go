package spelling

import (
	"slices"
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "acb", 1}, {"abc", "ab", 1},
		{"kitten", "sitting", 3}, {"größe", "grösse", 2}, {"ca", "abc", 3},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("from %q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestSimilar(t *testing.T) {
	for _, c := range []struct{ name, names, want string }{
		{"limt", "limit list last", "limit list"},
		{"limt", "limit last", "limit"},
		{"LIMIT", "limit limits", "limit"},
		{"println", "Println Printlm", "Println"},
		{"Printl", "Println Print Printf Sprintln", "Print Printf Println"},
		{"ab", "ac abc", ""},
		{"abc", "abc", ""},
		{"nope", "copy name", ""},
		{"restrat", "restart ranks", "restart"},
		{"synchronise", "Synchronize", "Synchronize"},
		{"Float32", "F16 F32 F64 I32 BF16", "F32"},
		{"BFloat16", "F16 BF16", "BF16"},
		{"UInt8", "I8 U8 F8", "U8"},
		{"Int64", "I64 U64", "I64"},
		{"Float32s", "F32", ""},
		{"Float", "F", ""},
	} {
		if got := Similar(c.name, strings.Fields(c.names)); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("like %s among %s: %q, want %s", c.name, c.names, got, c.want)
		}
	}
}
