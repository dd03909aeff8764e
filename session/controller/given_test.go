package controller

import (
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// A replay names variables that its cells use and that no cell gives a value.
func TestGivenVariables(t *testing.T) {
	g := givenVariables{}
	g.gives(session.Cell{Gives: "x"}, 1)
	g.gives(session.Cell{Gives: "y"}, 2)
	g.gives(session.Cell{}, 2)
	for _, c := range []struct {
		want  string
		cells []session.Cell
	}{
		{"", nil},
		{"", []session.Cell{{ID: 1, Source: "a := 1"}, {ID: 2, Source: "xs := a"}}},
		{"", []session.Cell{{ID: 1, Source: "x := 1"}, {ID: 2, Source: "x++"}}},
		{"", []session.Cell{{ID: 3, Source: "y := 2"}, {ID: 4, Source: "var x = y"}}},
		{"the replay cannot give values that a program has put: x, which cell 2 uses; y, which cell 3 uses. " +
			"Put them, and enter the cells after that again\n",
			[]session.Cell{{ID: 1, Source: "a := 1"}, {ID: 2, Source: "b := x + 1"}, {ID: 3, Source: "y.Sum()"}}},
	} {
		if got := g.note(c.cells); got != c.want {
			t.Errorf("before %+v it says %q, want %q", c.cells, got, c.want)
		}
	}
}
