package interp

import "testing"

// TestFramesAreReused leaves structs of calls in every kind of place: later calls of the same
// functions, whose frames are reused, do not change them.
func TestFramesAreReused(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, `type P struct { a, b int; s string }
type Q struct { p P; n float64 }
type summer interface { sum() int }
func (p P) sum() int { return p.a + p.b }
func (q Q) get() P { return q.p }
func (q Q) with(n int) Q { q.p.a = n; return q }
var (
	global P
	held any
	boxed summer
	list []any
	boxes []summer
	byName = map[string]any{}
	values = map[string]P{}
	sent = make(chan P, 2)
	sentAny = make(chan any, 2)
)
func toGlobal(n int) int { p := P{n, n+1, "x"}; global = p; return p.a }
func toAny(n int) int { p := P{n, n+1, "x"}; held = p; return p.a }
func toBox(n int) int { p := P{n, n+1, "x"}; boxed = p; return p.a }
func toList(n int) int { p := P{n, n+1, "x"}; list = append(list, p); return p.a }
func toElement(n int) int { p := P{n, n+1, "y"}; list[0] = p; return p.a }
func toBoxes(n int) int { p := P{n, n+1, "x"}; boxes = append(boxes, p); return p.a }
func toMap(n int) int { p := P{n, n+1, "x"}; byName["k"] = p; values["k"] = p; return p.a }
func toChannels(n int) int { p := P{n, n+1, "x"}; sent <- p; sentAny <- p; return p.a }
func toSlice(n int) []P { p := P{n, n+1, "x"}; return []P{p, p} }
func toPanic(n int) int { p := P{n, n+1, "x"}; panic(p) }
func caught(n int) (r any) { defer func() { r = recover() }(); toPanic(n); return }
func result(n int) P { p := P{n, n+1, "x"}; return p }
func part(n int) P { q := Q{P{n, n+1, "x"}, 1}; r := q.p; q.p.a = 99; return r }
func partOf(q Q) P { return q.p }
func copies(n int) (P, P) { p := P{n, 0, "x"}; r := p; r.b = 7; return p, r }
func swap(p, q P) (P, P) { p, q = q, p; return p, q }
func zero() P { var p P; r := p; p.a = 5; return r }
func nested(n int) P { p := P{n, 0, ""}; if n > 0 { r := nested(n-1); p.b = r.b + p.a }; return p }`)
	for _, c := range []struct{ cell, want string }{
		{`toGlobal(1); g := global; toGlobal(2); fmt.Sprint(g, global)`, `"{1 2 x} {2 3 x}"`},
		{`toAny(1); h := held; toAny(2); fmt.Sprint(h, held)`, `"{1 2 x} {2 3 x}"`},
		{`toBox(1); b := boxed; toBox(2); fmt.Sprint(b.sum(), boxed.sum())`, `"3 5"`},
		{`toList(1); toList(2); fmt.Sprint(list)`, `"[{1 2 x} {2 3 x}]"`},
		{`toElement(3); e := list[0]; toElement(4); fmt.Sprint(e, list)`, `"{3 4 y} [{4 5 y} {2 3 x}]"`},
		{`toBoxes(1); toBoxes(2); fmt.Sprint(boxes[0].sum(), boxes[1].sum())`, `"3 5"`},
		{`toMap(1); m, v := byName["k"], values["k"]; toMap(2); fmt.Sprint(m, v, byName, values)`,
			`"{1 2 x} {1 2 x} map[k:{2 3 x}] map[k:{2 3 x}]"`},
		{`toChannels(1); toChannels(2); fmt.Sprint(<-sent, <-sent, <-sentAny, <-sentAny)`, `"{1 2 x} {2 3 x} {1 2 x} {2 3 x}"`},
		{`s1, s2 := toSlice(1), toSlice(2); fmt.Sprint(s1, s2)`, `"[{1 2 x} {1 2 x}] [{2 3 x} {2 3 x}]"`},
		{`c1, c2 := caught(1), caught(2); fmt.Sprint(c1, c2)`, `"{1 2 x} {2 3 x}"`},
		{`r1, r2 := result(1), result(2); fmt.Sprint(r1, r2)`, `"{1 2 x} {2 3 x}"`},
		{`p1, p2 := part(1), part(2); fmt.Sprint(p1, p2)`, `"{1 2 x} {2 3 x}"`},
		{`o1, o2 := partOf(Q{P{1, 1, "x"}, 0}), partOf(Q{P{2, 2, "x"}, 0}); fmt.Sprint(o1, o2)`, `"{1 1 x} {2 2 x}"`},
		{`k1, k2 := copies(1); k3, k4 := copies(2); fmt.Sprint(k1, k2, k3, k4)`, `"{1 0 x} {1 7 x} {2 0 x} {2 7 x}"`},
		{`w1, w2 := swap(P{a: 1}, P{a: 2}); w3, w4 := swap(w1, w2); fmt.Sprint(w1, w2, w3, w4)`, `"{2 0 } {1 0 } {1 0 } {2 0 }"`},
		{`z1, z2 := zero(), zero(); fmt.Sprint(z1, z2)`, `"{0 0 } {0 0 }"`},
		{`fmt.Sprint(nested(4), nested(3))`, `"{4 10 } {3 6 }"`},
		{`q := Q{P{1, 2, "x"}, 3}; g1, w := q.get(), q.with(5); g2 := w.get(); fmt.Sprint(g1, w, g2, q)`,
			`"{1 2 x} {{5 2 x} 3} {5 2 x} {{1 2 x} 3}"`},
		{`total := 0; for i := range 100 { total += (P{i, 1, ""}).sum() }; total`, `5050`},
	} {
		if got := mustEval(t, in, c.cell); got != c.want {
			t.Errorf("%s\nis %s, want %s", c.cell, got, c.want)
		}
	}
}
