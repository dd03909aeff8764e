package interp

import (
	"runtime"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// TestIndexFaults checks that errors of indices and bounds give the position and the index: in
// loops, behind conversions, in interpreted packages.
func TestIndexFaults(t *testing.T) {
	for _, c := range []struct{ setup, cell, want string }{
		{"a := []int{1}", "for i := range 3 {\n\ta[i]++\n}", "cell[1]:2:2: panic: runtime error: index out of range [1] with length 1"},
		{"s := \"ab\"", "n := 0\nfor i := 0; ; i++ {\n\tn += int(s[i])\n}", "cell[1]:3:11: panic: runtime error: index out of range [2] with length 2"},
		{"var a [3]float64", "for i := 0; i < 4; i++ {\n\ta[i] = 1.5\n}", "cell[1]:2:2: panic: runtime error: index out of range [3] with length 3"},
		{"p := &[2]int{}", "for i := uint8(0); ; i++ {\n\tp[i] = 1\n}", "cell[1]:2:2: panic: runtime error: index out of range [2] with length 2"},
		{"a := make([]int, 2, 4)", "for i := range 9 {\n\ta = a[:i]\n}", "cell[1]:2:6: panic: runtime error: slice bounds out of range [:5] with capacity 4"},
		{"a := []int{1}", "i := -1\na[0] + a[i]", "cell[1]:2:8: panic: runtime error: index out of range [-1]"},
		{"type P struct{ x int }\nvar a []P", "import \"slices\"\nslices.Insert(a, 5, P{1})",
			"cell[1]:2:1: panic: runtime error: slice bounds out of range [5:0]"},
	} {
		in := open(t, Options{})
		mustEval(t, in, c.setup)
		r := evaluate(in, session.Cell{ID: 1, Source: c.cell})
		if r.Err == nil || r.Err.Error() != c.want {
			t.Errorf("%s\nends with %v, want %s", c.cell, r.Err, c.want)
		}
	}
}

// TestQuickSteps runs code whose steps replace yaegi's, also with operands for which they fall back
// to yaegi's.
func TestQuickSteps(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, strings.Join([]string{
		"import (\"fmt\"; \"math\"; \"sort\")",
		"type metres float64", "type small int8", "type point struct{ x, y float64 }",
		"func (p *point) move(dx, dy float64) (moved bool) { p.x += dx; p.y -= dy; return dx != 0 }",
		"func (p point) dot(q point) float64 { return p.x*q.x + p.y*q.y }",
		"func half(m metres) metres { return m / 2 }",
		"func pair(a int, s string) (string, int) { return s + fmt.Sprint(a), a % 3 }",
		"func sum(list ...int) (n int) { for _, v := range list { n += v }; return }",
		"func even(n int) bool { if n == 0 { return true }; return odd(n - 1) }",
		"func odd(n int) bool { if n == 0 { return false }; return even(n - 1) }",
		"func apply(f func(int) int, n int) int { return f(n) }",
		"func inverse(x float64) float64 { return 1 / x }",
		"type shape interface{ dot(point) float64 }",
		"func of(s shape, q point) float64 { return s.dot(q) }",
	}, "\n"))
	for _, c := range []struct{ cell, want string }{
		{"p := point{1, 2}; moved := p.move(3, 1); _ = moved; fmt.Sprint(p, moved)", `"{4 1} true"`},
		{"p := &point{1, 2}; if p.move(0, 0) { p.x = 9 }; fmt.Sprint(*p, p.dot(point{3, 4}), of(p, point{1, 1}))", `"{1 2} 11 3"`},
		{"half(3)", "metres(1.5)"},
		{"s, n := pair(8, \"a\"); _, m := pair(9, \"b\"); fmt.Sprint(s, n, m)", `"a82 0"`},
		{"fmt.Sprint(sum(), sum(1), sum(1, 2, 3), sum([]int{4, 5}...))", `"0 1 6 9"`},
		{"fmt.Sprint(even(10), odd(10), !even(7))", `"true false true"`},
		{"k := 3; fmt.Sprint(apply(func(n int) int { k++; return n * k }, 5), k)", `"20 4"`},
		{"var none []int; m := map[int]int{4: 5}; a := [3]int{}; n := len(\"größe\") + len(none) + len(m) + len(&a); fmt.Sprint(n, len(make([]string, 2)) > 1)", `"11 true"`},
		{"inverse(math.Copysign(0, -1))", "-Inf"},
		{"list := []int{3, 1, 2}; sort.Slice(list, func(i, j int) bool { return list[i] < list[j] }); list", "[]int{1, 2, 3}"},
		{"var fs []func() int; for i := range 3 { fs = append(fs, func() int { i *= 10; return i }) }; fmt.Sprint(fs[1](), fs[2](), fs[1]())", `"10 20 100"`},
		{"var a [2]small; a[1] = 127; a[1]++; b := a; b[0] = 5; fmt.Sprint(a, b)", `"[0 -128] [5 -128]"`},
		{"n := 0; for _, r := range \"größe\" { if r >= 'ö' { n++ } }; n", "1"},
		{"x := 7.0; x -= 0.5; y := x / 2; fmt.Sprint(x, y, x > y, 7 / 2, -7 % 3)", `"6.5 3.25 true 3 -1"`},
	} {
		if got := mustEval(t, in, c.cell); got != c.want {
			t.Errorf("%s\nis %s, want %s", c.cell, got, c.want)
		}
	}
}

// TestCallsRedefined calls functions and methods that were defined again, with other variables,
// from code that was compiled before.
func TestCallsRedefined(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, "type T struct{ n int }\nfunc (t *T) add(k int) int { t.n += k; return t.n }\nfunc f(a int) int { return a }\nfunc g(t *T) int { return f(1) + t.add(2) }\nt := &T{}")
	if got := mustEval(t, in, "g(t)"); got != "3" {
		t.Errorf("g(t) is %s, want 3", got)
	}
	mustEval(t, in, "func f(a int) int { b, c := 10, 2.5; s := \"x\"; return a + b + int(c) + len(s) }")
	if got := mustEval(t, in, "g(t)"); got != "18" {
		t.Errorf("after f was defined again g(t) is %s, want 18", got)
	}
	mustEval(t, in, "func (t *T) add(k int) int { m := map[int]string{k: \"y\"}; t.n += len(m[k]); return t.n * 100 }")
	if got := mustEval(t, in, "g(t)"); got != "514" {
		t.Errorf("after the method was defined again g(t) is %s, want 514", got)
	}
}

// TestCallsAllocate counts the allocations of a call, which would dominate its time: yaegi makes one
// for each variable, and several for a method.
func TestCallsAllocate(t *testing.T) {
	in := open(t, Options{Packages: callPackage()})
	mustEval(t, in, "import (\"math\"; \"test/call\")\nx, c := 0.0, call.New(1)\ntype T struct{ n int }\nfunc (t *T) add(k int) int { t.n += k; return t.n }\nfunc add(a, b int) int { if a < b { return a + b }; return a - b }\nt := &T{}\ntype V struct{ n int; name string }\nfunc (v V) add(k int) int { return v.n + k }\nv := V{1, \"v\"}")
	for _, c := range []struct {
		name, cell string
		most       uint64
	}{
		{"function", "s := 0; for i := 0; i < 10000; i++ { s = add(s, i) }", 0},
		{"method", "s := 0; for i := 0; i < 10000; i++ { s = t.add(i) }", 0},
		{"method of a value", "s := 0; for i := 0; i < 10000; i++ { s = v.add(i) }", 0},
		{"literal", "s := 0; f := func(n int) { s += n }; for i := 0; i < 10000; i++ { f(i) }", 0},
		{"compiled function", "for i := 0; i < 10000; i++ { x = math.Max(x, 2) }", 0},
		{"compiled method", "for i := 0; i < 10000; i++ { c.Add(i) }", 0},
		{"compiled method of a value", "s := 0; for i := 0; i < 10000; i++ { s = c.Sum(i) }", 0},
		{"compiled function with a slice", "s := 0; for i := 0; i < 10000; i++ { s = call.Ints(i, s) }", 1},
	} {
		mustEval(t, in, c.cell)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		mustEval(t, in, c.cell)
		runtime.ReadMemStats(&after)
		if each := (after.Mallocs - before.Mallocs) / 10000; each > c.most {
			t.Errorf("a call of a %s allocates %d times, want %d", c.name, each, c.most)
		}
	}
}
