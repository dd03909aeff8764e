package check

import (
	"slices"
	"testing"
)

// TestSplit checks where the items of a cell end, for various statement heads.
func TestSplit(t *testing.T) {
	for _, want := range [][]string{
		{"for p := []int{1}; len(p) < 3; p = append(p, 1) { p[0]++ }", "x := 1"},
		{"for i := 0; i < 2; i++ {}", "type T int", "const c = 2"},
		{"if f := func() int { return 1 }; f() == 1 { f() }", "type T int"},
		{"if x := []*T{nil}; x != nil { f() } else if y := [2]pkg.T{}; len(y) > 0 { g() }", "func h() {}"},
		{"switch m := map[string]int{\"a\": 1}; m[\"a\"] { case 1: f() }", "func (T) h() {}"},
		{"if v := struct{ a int }{1}; v.a > 0 { f() }", "import \"fmt\""},
		{"outer: for s := [][]int{{1}, {2}}; len(s) > 0; s = s[1:] { continue outer }", "1, 2"},
		{"go func() { for i := 0; i < 2; i++ {} }()", "x++"},
		{"a := `\r\n`", "b := /* e\nf */ 1", "`g\r`"},
	} {
		for _, end := range []string{"; ", "\n", " /* a\nb */ ", " // c;\n", "; /* d; */\n"} {
			src := want[0]
			for _, item := range want[1:] {
				src += end + item
			}
			src += end
			items, errs := Split(src)
			if errs != nil {
				t.Fatal(errs)
			}
			var got []string
			for _, it := range items {
				got = append(got, src[it.Start:it.End])
			}
			if !slices.Equal(got, want) {
				t.Errorf("the items of %q are %q", src, got)
			}
		}
	}
}
