package interp

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"testing"
)

// counter has methods of values and of pointers.
type counter struct{ N, _ int }

func (c *counter) Add(n int) *counter { c.N += n; return c }
func (c counter) Sum(n int) int       { return c.N + n }
func (c *counter) IsNil() bool        { return c == nil }

// callPackage has functions whose operands Go passes in registers, on the stack, and in slices.
func callPackage() Exports {
	return Exports{"test/call/call": {
		"Counter": reflect.ValueOf((*counter)(nil)),
		"New":     reflect.ValueOf(func(n int) *counter { runtime.GC(); return &counter{N: n} }),
		"Two":     reflect.ValueOf(func(n int) (int, error) { return 2 * n, errors.New("two") }),
		"Even":    reflect.ValueOf(func(n int8) bool { return n%2 == 0 }),
		"Mixed": reflect.ValueOf(func(a float32, b int, c complex128, d string, e []int, f bool, g float64) string {
			return fmt.Sprint(a, b, c, d, e, f, g)
		}),
		"Many": reflect.ValueOf(func(a, b, c, d, e, f, g, h, i int, j string, k int8, l float64) string {
			return fmt.Sprint(a, b, c, d, e, f, g, h, i, j, k, l)
		}),
		"Array": reflect.ValueOf(func(a [3]int, n int) [3]int { a[0] += n; return a }),
		"Anys":  reflect.ValueOf(func(first int, rest ...any) string { return fmt.Sprintf("%d %T %v %v", first, rest, rest, rest == nil) }),
		"Ints":  reflect.ValueOf(func(list ...int) int { return len(list) + cap(list) }),
		"Keep":  reflect.ValueOf(func(list ...int) []int { runtime.GC(); return list }),
		"Each": reflect.ValueOf(func(n int, f func(int) int) (sum int) {
			for i := range n {
				sum += f(i)
			}
			return sum
		}),
		"Named": reflect.ValueOf(func(e error, x any) string { return fmt.Sprint(e, x) }),
	}}
}

// TestCompiledCalls holds calls of compiled functions to what Go does, whether they have a step of
// their own or yaegi's.
func TestCompiledCalls(t *testing.T) {
	in := open(t, Options{Packages: callPackage()})
	mustEval(t, in, `import "test/call"
type named int
type holder struct{ c call.Counter; p *call.Counter }
func pass(n int) (int, error) { return call.Two(n) }
func nested(n int) int { return call.Each(n, func(i int) int { return call.Each(i, func(j int) int { return call.New(j).Sum(i) }) }) }`)
	for _, c := range []struct{ cell, want string }{
		{`call.New(3).Add(4).Sum(1)`, "8"},
		{`c := call.New(1); for i := 0; i < 3; i++ { c.Add(i) }; c.N`, "4"},
		{`var v call.Counter; v.Add(2); v.Add(3); v.Sum(0)`, "5"},
		{`h := holder{p: call.New(5)}; h.c.Add(1); h.p.Add(1); fmt.Sprint(h.c.N, h.p.N, h.p.Sum(h.c.Sum(1)))`, `"1 6 8"`},
		{`var none *call.Counter; none.IsNil()`, "true"},
		{`f := call.New(1).Add; f(2); f(3).N`, "6"},
		{`n, err := call.Two(4); fmt.Sprint(n, err)`, `"8 two"`},
		{`_, err2 := call.Two(1); m, _ := call.Two(2); fmt.Sprint(m, err2)`, `"4 two"`},
		{`a, b := pass(7); fmt.Sprint(a, b)`, `"14 two"`},
		{`s := ""; for i := 0; i < 4; i++ { if call.Even(int8(i)) { s += fmt.Sprint(i) } }; s`, `"02"`},
		{`call.Mixed(1.5, 2, 3i, "d", []int{4, 5}, true, 6.25)`, `"1.5 2 (0+3i)d[4 5] true 6.25"`},
		{`call.Many(1, 2, 3, 4, 5, 6, 7, 8, 9, "j", -1, 0.5)`, `"1 2 3 4 5 6 7 8 9j-1 0.5"`},
		{`call.Array([3]int{1, 2, 3}, 9)`, "[3]int{10, 2, 3}"},
		{`call.Anys(1)`, `"1 []interface {} [] true"`},
		{`call.Anys(1, 2, "x", named(3), nil, []int{4}, 1.5)`, `"1 []interface {} [2 x 3 <nil> [4] 1.5] false"`},
		{`call.Anys(1, []any{2, 3}...)`, `"1 []interface {} [2 3] false"`},
		{`fmt.Sprint(call.Ints(), call.Ints(1, 2), call.Ints([]int{1, 2, 3}...))`, `"0 4 6"`},
		{`kept := [][]int{}; for i := 0; i < 3; i++ { kept = append(kept, call.Keep(i, i+1)) }; kept`, "[][]int{[]int{0, 1}, []int{1, 2}, []int{2, 3}}"},
		{`fs := []func() int{}; for i := 0; i < 3; i++ { n, _ := call.Two(i); fs = append(fs, func() int { return n }) }; fmt.Sprint(fs[0](), fs[1](), fs[2]())`, `"0 2 4"`},
		{`nested(4)`, "18"},
		{`total := 0; add := func(n int) int { total += n; return total }; for i := 0; i < 4; i++ { add(i) }; call.Each(3, add)`, "22"},
		{`var fact func(n int) int; fact = func(n int) int { if n == 0 { return 1 }; return n * fact(n-1) }; fact(10)`, "3628800"},
		{`swap := func(a, b string) (string, string) { return b, a }; l, r := swap("l", "r"); l + r`, `"rl"`},
		{`call.Named(nil, named(2))`, `"<nil> 2"`},
		{`var e error; call.Named(e, e)`, `"<nil> <nil>"`},
	} {
		if got := mustEval(t, in, c.cell); got != c.want {
			t.Errorf("%s gives %s, want %s", c.cell, got, c.want)
		}
	}
}
