package check

import "testing"

func TestInvalid(t *testing.T) {
	for src, want := range map[string]bool{
		"": false, "x": false, "x := 1\nx": false, "1, 2": false, "func f() {}": false, "for {": false, "`raw": false,
		"x := )": true, "}": true, "for }": true, "x := 1 2": true, "func {}": true,
	} {
		if got := Invalid(src); got != want {
			t.Errorf("Invalid(%q) is %v", src, got)
		}
	}
}
