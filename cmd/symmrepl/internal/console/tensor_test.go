package console

import (
	"reflect"
	"testing"
)

func TestExpressions(t *testing.T) {
	for text, want := range map[string][2]string{
		"x":                         {"x", ""},
		" x ":                       {"x", ""},
		"x y":                       {"x", "y"},
		"x, y":                      {"x", "y"},
		"f(a, b), ts[1]":            {"f(a, b)", "ts[1]"},
		"x.Slice(0, 4) y[ 2 ]":      {"x.Slice(0, 4)", "y[ 2 ]"},
		"x -y":                      {"x -y", ""},
		"x, -y":                     {"x", "-y"},
		"map[string]int{}[\"ö\"] y": {"map[string]int{}[\"ö\"]", "y"},
	} {
		if x, y, err := Expressions(text); x != want[0] || y != want[1] || err != nil {
			t.Errorf("%q is %q and %q (%v), want %q", text, x, y, err, want)
		}
	}
	for _, text := range []string{"", " ", "x[", "x, y, z", "x y z", "x; y", "), (", "xs..."} {
		if x, y, err := Expressions(text); err == nil {
			t.Errorf("%q is %q and %q", text, x, y)
		}
	}
}

func FuzzExpressions(f *testing.F) {
	for _, text := range []string{"x", "x y", "f(a, b), ts[1]", "x[", "\"ö\" y", "/*", "x // y"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if x, _, err := Expressions(text); err == nil && x == "" {
			t.Errorf("%q has no first expression, and no error", text)
		}
	})
}

func TestShape(t *testing.T) {
	s := shape{2, 3, 4}
	if got := s.index(17); !reflect.DeepEqual(got, []int{1, 1, 1}) || s.String() != "[2, 3, 4]" {
		t.Errorf("%v, %v", got, s)
	}
	if got := (shape{}).index(0); len(got) != 0 || (shape{}).String() != "[]" {
		t.Errorf("%v, %v", got, shape{})
	}
}
