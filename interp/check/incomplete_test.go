package check

import "testing"

func TestIncomplete(t *testing.T) {
	for src, want := range map[string]bool{
		"": false, "x": false, "x := 1": false, "x +": true, "x :=": true, "f(": true, "f(1,": true, "f(1,\n": true, "f(1\n": false, "f(1)": false,
		"func f() {": true, "func f() {\n": true, "func f() {\n\treturn 1\n": true, "func f() {\n}": false, "func f() {}\n": false,
		"for {": true, "for i := 0; i < 3; i++ {": true, "for i := range 3 {\nfmt.Println(i)": true, "for i := range 3 { }": false,
		"if x {": true, "if x {\n} else {": true, "if x {\n} else": true, "if x {\n}": false, "if x": false,
		"[]int{1, 2,": true, "[]int{1, 2,\n": true, "[]int{1, 2": true, "[]int{1,\n2,\n}": false, "[]int{1,\n2\n": false,
		"`raw": true, "`raw\nmore": true, "`raw`": false, "\"str": false, "\"str\"": false,
		"/* comment": true, "/* comment */": false, "// comment": false, "x // comment {": false,
		"type T struct {": true, "type T struct {\n\tA int\n": true, "type T struct {\n\tA int\n}": false, "type T interface {": true,
		"import (": true, "import (\n\"fmt\"\n": true, "import (\n\"fmt\"\n)": false, "import \"fmt\"": false,
		"switch x {": true, "switch x {\ncase 1:": true, "switch x {\ncase 1:\n\tf()\n": true, "switch x {\ncase 1:\n}": false,
		"select {": true, "go func() {": true, "go func() {\n}()": false, "defer func() {\n}": false,
		"m := map[string]int{": true, "m := map[string]int{\n\"a\": 1,": true, "m := map[string]int{\"a\": 1}": false,
		"x = = 1": false, "f())": false, "}": false, "x := )": false, "func {": false, "for }": false, "a[1": true, "a[1]": false, "a[1:": true,
		"x.": true, "x.y": false, "a &&": true, "a && b": false, "!": true, "return": false, "break": false, "x++": false, "x--": false,
		"k := symm.Compile(`": true, "k := symm.Compile(`\nextern \"C\" {\n": true, "k := symm.Compile(`\n}`)": false,
		"var": true, "const (": true, "const (\nA = iota\n": true, "func(a int) int {": true, "func(a int) int { return a }(": true, "f(func() {": true,
		"f(func() {\n\tg()\n": true, "f(func() {\n\tg()\n})": false, "f(func() {\n\tg()\n}": true, "x := []int{\n\t1,\n": true, "<-": true, "ch <-": true,
	} {
		if got := Incomplete(src); got != want {
			t.Errorf("Incomplete(%q) is %v", src, got)
		}
	}
}

func FuzzIncomplete(f *testing.F) {
	for _, s := range []string{"f(", "x := `a", "func f() {\n", "}{", "if x {\n} else", "/*"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) { Incomplete(src) })
}
