package cudalex

import (
	"strings"
	"testing"
)

// TestBranches checks which parts of texts remain when "on" is known to be defined.
func TestBranches(t *testing.T) {
	known := func(condition string) Truth {
		switch condition {
		case "defined(on)":
			return True
		case "!defined(on)":
			return False
		}
		return Unknown
	}
	for text, want := range map[string]string{
		"#if 0\na\n#else\nb\n#endif\nc":                               "b c",
		"#if 0 // off\na\n#elif x\nb\n#else\nc\n#endif":               "b c",
		"#ifdef on\na\n#else\nb\n#endif":                              "a",
		"#ifndef on // why\na 'b\n#else\nc\n#endif":                   "c",
		"#if ! defined( on )\na\n#endif\nb":                           "b",
		"# if defined /* it */ (on)\na\n#elif x\nb\n#else\nc\n#endif": "a",
		"#if x\na\n#elif defined(on)\nb\n#else\nc\n#endif":            "a b",
		"#ifndef on\n#ifdef on\na\n#endif\nb \\\nc\n#endif\nd":        "d",
		"#if x\na\n#else\nb\n#endif\n#endif\nc":                       "a b c",
		"#else\na":                                                    "a",
	} {
		out := Blank(text, known)
		if len(out) != len(text) {
			t.Errorf("%q became %q", text, out)
		}
		var left []string
		for line := range strings.Lines(out) {
			if !strings.HasPrefix(line, "#") {
				left = append(left, strings.Fields(line)...)
			}
		}
		if got := strings.Join(left, " "); got != want {
			t.Errorf("of %q %q is left, want %q", text, got, want)
		}
	}
}

func TestBlank(t *testing.T) {
	for text, want := range map[string]string{
		"a // b\nc":                   "a     \nc",
		"x /* y\n */ z":               "x     \n    z",
		`f("a\"b", 'c', u8R"x(d)x");`: `f("    ", ' ', u8R"     ");`,
		"#include <mma.h> // x\n":     "#include <mma.h>     \n",
		"#include \"a.h\"\nb":         "#include \"a.h\"\nb",
		"#define S \"asm(\" /* \n */": "#define S \"    \"    \n   ",
		"1'000'000 \"open\nb":         "1'000'000 \"    \nb",
		"a /* open":                   "a        ",
	} {
		if got := Blank(text, nil); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// FuzzBlank checks that the pieces are the whole text, and that blanking keeps lines and columns.
func FuzzBlank(f *testing.F) {
	for _, s := range []string{"a // b\nc", "x /* y\n */ z", `"a\"b" 'c' R"(d)" e`, "#include <mma.h> // x\n", `R"x(a)y)x" b`,
		"1'000", `"open`, "/*", `R"`, `'`, `"\`, "#if 0\n'\n#endif\n#"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, all, line := newLexer(s, nil), "", 1
		for {
			p, ok, _ := l.next()
			if !ok {
				break
			}
			if p.Text == "" || p.Line != line {
				t.Fatalf("%q has the piece %+v on line %d", s, p, line)
			}
			all += p.Text
			line += strings.Count(p.Text, "\n")
		}
		if all != s {
			t.Errorf("%q was cut into %q", s, all)
		}
		for _, known := range []Known{nil, func(string) Truth { return False }} {
			if out := Blank(s, known); len(out) != len(s) || strings.Count(out, "\n") != strings.Count(s, "\n") {
				t.Errorf("%q became %q", s, out)
			}
		}
	})
}
