package session

import "testing"

// A replay names variables that its cells use and that no cell gives a value.
func TestGivenVariables(t *testing.T) {
	g := givenVariables{}
	g.gives(Cell{Gives: "x"}, 1)
	g.gives(Cell{Gives: "y"}, 2)
	g.gives(Cell{}, 2)
	for _, c := range []struct {
		want  string
		cells []Cell
	}{
		{"", nil},
		{"", []Cell{{ID: 1, Source: "a := 1"}, {ID: 2, Source: "xs := a"}}},
		{"", []Cell{{ID: 1, Source: "x := 1"}, {ID: 2, Source: "x++"}}},
		{"", []Cell{{ID: 3, Source: "y := 2"}, {ID: 4, Source: "var x = y"}}},
		{"the replay cannot give values that a program has put: x, which cell 2 uses; y, which cell 3 uses. " +
			"Put them, and enter the cells after that again\n",
			[]Cell{{ID: 1, Source: "a := 1"}, {ID: 2, Source: "b := x + 1"}, {ID: 3, Source: "y.Sum()"}}},
	} {
		if got := g.note(c.cells); got != c.want {
			t.Errorf("before %+v it says %q, want %q", c.cells, got, c.want)
		}
	}
}
