package controller

import "testing"

// Source that calls Survivors is distinguished from source that only mentions it.
func TestCallsSurvivors(t *testing.T) {
	for source, want := range map[string]bool{
		"g := symm.Survivors()":                     true,
		"g := symm.\n\tSurvivors ( )":               true,
		"Survivors(":                                true,
		"survivors()":                               false,
		"left := symm.Survivors":                    false,
		"// symm.Survivors() makes a group\nx := 1": false,
		`fmt.Println("symm.Survivors()")`:           false,
		"x := `Survivors(`; f(x)":                   false,
		"":                                          false,
	} {
		if got := callsSurvivors(source); got != want {
			t.Errorf("%q: %v", source, got)
		}
	}
}
