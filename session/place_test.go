package session

import "testing"

// A position in code around the user's text becomes a position in the user's text.
func TestPlace(t *testing.T) {
	type place struct {
		line, column int
		text         string
	}
	plain := Cell{Source: "a\n  b", Line: 3}
	wrapped := Cell{Source: "f(func() { a()\n  b\n}, func() {\nc()\n})", Typed: "a()\n  b\n%%\nc()", Line: 3}
	alone := Cell{Source: "\n\n\nc(", Typed: "a()\n  b\n%%\nc("}
	made := Cell{Source: "f := symm.Compile(`\ncode`)\nf.Launch(symm.Grid(1), symm.Block(64), u, gu.u(v))", Typed: "%%cuda -g 1 -b 64 u gu.u(v)\ncode", Line: 3}
	for _, c := range []struct {
		cell         Cell
		line, column int
		want         place
	}{
		{plain, 1, 1, place{3, 1, "a"}},
		{plain, 2, 3, place{4, 3, "  b"}},
		{plain, 4, 2, place{6, 2, ""}},
		{wrapped, 1, 1, place{3, 1, "a()"}},
		{wrapped, 1, 12, place{3, 1, "a()"}},
		{wrapped, 1, 14, place{3, 3, "a()"}},
		{wrapped, 2, 3, place{4, 3, "  b"}},
		{wrapped, 3, 4, place{5, 4, "%%"}},
		{wrapped, 4, 2, place{6, 2, "c()"}},
		{wrapped, 5, 1, place{6, 4, "c()"}},
		{alone, 4, 3, place{4, 3, "c("}},
		{made, 1, 6, place{3, 1, "%%cuda -g 1 -b 64 u gu.u(v)"}},
		{made, 2, 2, place{4, 2, "code"}},
		{made, 3, 40, place{3, 24, "%%cuda -g 1 -b 64 u gu.u(v)"}},
		{made, 3, 43, place{3, 21, "%%cuda -g 1 -b 64 u gu.u(v)"}},
		{made, 3, 48, place{3, 26, "%%cuda -g 1 -b 64 u gu.u(v)"}},
		{made, 3, 90, place{3, 1, "%%cuda -g 1 -b 64 u gu.u(v)"}},
		{made, 9, 1, place{3, 1, "%%cuda -g 1 -b 64 u gu.u(v)"}},
	} {
		line, column, text := c.cell.Place(c.line, c.column)
		if got := (place{line, column, text}); got != c.want {
			t.Errorf("%d:%d of %q is at %v, want %v", c.line, c.column, c.cell.Source, got, c.want)
		}
	}
}
