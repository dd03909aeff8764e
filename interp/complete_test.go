package interp

import (
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// completing returns a session in which names of all kinds are defined.
func completing(t testing.TB) *Interp {
	t.Helper()
	in := open(t, Options{})
	for _, src := range []string{
		"type P struct{ Xs int; y string }\nfunc (p P) Show() string { return p.y }\nfunc (p *P) Set(n int) { p.Xs = n }",
		"type Q struct { P; Z float64; next *Q }\ntype Speaker interface { Speak(loud bool) string }\nvar sp Speaker",
		"b := P{1, \"two\"}\na := []int{1, 2}\nqq := &Q{}\npairs := map[string][]P{}\nfunc add(a, b int) int { return a + b }\nconst limit = 10",
		"func makeP(n int) (P, error) { return P{}, nil }\nfunc newQ() *Q { return nil }\nzwölf := 12\nch := make(chan P)",
	} {
		r := evaluate(in, session.Cell{ID: 1, Source: src})
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	return in
}

// candidatesAt returns the names of the completions of src.
func candidatesAt(in *Interp, src string) (names []string) {
	for _, c := range in.help.Complete(src) {
		names = append(names, c.Name)
	}
	return names
}

// completions lists the completions of src, one per line: name, kind and type, separated by tabs.
func completions(in *Interp, src string) string {
	var lines []string
	for _, c := range in.help.Complete(src) {
		lines = append(lines, c.Name+"\t"+c.Kind+"\t"+c.Type)
	}
	return strings.Join(lines, "\n")
}

func TestComplete(t *testing.T) {
	in := completing(t)
	for _, c := range []struct{ src, want string }{
		// Fields and methods.
		{"b.", "Set Show Xs y"},
		{"x := b.S", "Set Show"},
		{"qq.", "P Set Show Xs Z next y"},
		{"qq.P.X", "Xs"},
		{"qq.next.next.Z", "Z"},
		{"pairs[\"k\"][0].", "Set Show Xs y"},
		{"a[len(a)-1:].", ""},
		{"newQ().P.Sh", "Show"},
		{"(&b).Se", "Set"},
		{"(<-ch).Sh", "Show"},
		{"P.", "Show"},
		{"(*P).", "Set Show"},
		{"sp.", "Speak"},
		{"P{1, \"\"}.Sh", "Show"},
		{"[]P{{}}[0].Xs + b.y", "y"},
		{"sp.(*Q).Z", "Z"},
		{"func() P { return b }().X", "Xs"},
		{"b.sh", "Show"}, // matches only if case is ignored
		{"b.xS", "Xs"},
		{"nothing.", ""},
		{"a[0].", ""},
		// Packages.
		{"strings.ToUp", "ToUpper ToUpperSpecial"},
		{"fmt.Println(strings.Repe", "Repeat"},
		{"fmt.printl", "Println"},
		{"time.Now().UnixN", "UnixNano"},
		{"time.Duration(5).Sec", "Seconds"},
		{"(3 * time.Second).Mil", "Milliseconds"},
		{"import \"sort\"\nsort.IntsA", "IntsAreSorted"},
		{"import str \"strings\"\nstr.HasP", "HasPrefix"},
		{"symm.Fill", ""},
		{"symm.OneShotAllReduceO", "OneShotAllReduceOut"},
		{"symm.World().Ra", "Rail Rank Ranks"},
		// Packages that are not imported.
		{"sort.IntsA", "IntsAreSorted"},
		{"strconv.NewReplac", ""},
		{"bytes.NewBufferString(\"x\").WriteB", "WriteByte"},
		{"strcon", "strconv"},
		{"rand.IntN", "IntN"},
		// Names in scope.
		{"fmt.Println(li", "limit"},
		{"a[0] + ad", "add"},
		{"LIMI", "limit"},
		{"zw", "zwölf"},
		{"fu", "func"},
		{"appe", "append"},
		{"float6", "float64"},
		// Local names.
		{"func f(count int) {\n\tcoun", "count"},
		{"func f(count int) {\n\tif total := count * 2; tot", "total"},
		{"func f() {\n\tfor index, item := range a {\n\t\titem + ind", "index"},
		{"func f() {\n\tlater, latest := 1, 2\n\tlate", "later latest"},
		{"func f() {\n\t{ hidden := 1 }\n\thidd", ""},
		{"func f() {\n\tearly := 1\n\tmakeP(ear", "early"},
		{"x1 := P{}; x1.Sh", "Show"},
		{"v1, err := makeP(1)\nv1.Sh", "Show"},
		{"v1, err := makeP(1)\nerr.", "Error"},
		{"for i := 0; i < limi", "limit"},
		{"for _, p := range pairs[\"a\"] { p.", "Set Show Xs y"},
		{"if b.X", "Xs"},
		{"if v, ok := pairs[\"a\"]; ok { v[0].X", "Xs"},
		{"switch sp := any(sp).(type) { case *Q: sp.Z", "Z"},
		{"switch b.Xs {\ncase lim", "limit"},
		{"func (q *Q) Sum() float64 {\n\treturn q.Z", "Z"},
		{"func outer() {\n\tinner := func(depth int) int {\n\t\treturn dept", "depth"},
		{"go func() { b.Se", "Set"},
		{"defer qq.Se", "Set"},
		{"select {\ncase got := <-ch:\n\tgot.Sh", "Show"},
		{"type R struct { one int }\nvar r R\nr.", "one"},
		{"func helper() int { return 1 }\nhelp", "helper"},
		{"func g[T any](v T, n int) { n", "n new newQ nil"},
		{"Loop:\nfor {\n\tfor {\n\t\tbreak Lo", "Loop"},
		{"x := undefinedThing(1)\nb.Sh", "Show"},
		{"x := (1 +\nb.Sh", "Show"},
		// Types.
		{"var v Spea", "Speaker"},
		{"func f(p *P, s Sp", "Speaker"},
		{"m := map[string]Spe", "Speaker"},
		{"any(b).(Spea", "Speaker"},
		// Keys of struct literals.
		{"P{X", "Xs"},
		{"P{Xs: 1, y", "y"},
		{"P{Xs: lim", "limit"},
		{"[]P{{Xs: 1}, {y", "y"},
		{"&Q{P: P{X", "Xs"},
		{"Q{ne", "new newQ next"},
		{"P{Xs: 1, Y", "y"},
		// Imports.
		{"import \"math/r", "math/rand math/rand/v2"},
		{"import (\n\t\"fmt\"\n\t\"encoding/js", "encoding/json"},
		{"import r \"math/rand/", "math/rand/v2"},
		// Arguments that are one of a few words.
		{"symm.OneShotAllReduce(t, \"m", "max min"},
		{"symm.OneShotAllReduce(symm.Empty(symm.F32, 4), \"", "avg max min sum"},
		// Nothing.
		{"x := \"li", ""},
		{"// li", ""},
		{"x := 1.", ""},
		{"y := 12", ""},
		{"'l", ""},
		{"/* li", ""},
		{"\"done\"", ""},
		{"func li", ""},
	} {
		names := candidatesAt(in, c.src)
		want := strings.Fields(c.want)
		slices.Sort(want)
		if !slices.Equal(names, want) {
			t.Errorf("%q completes to %q, want %q", c.src, names, want)
		}
	}
	names := candidatesAt(in, "")
	for _, want := range []string{"a", "b", "add", "P", "fmt", "symm", "range", "append"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among the names in scope", want)
		}
	}
	if slices.Contains(names, "sort") {
		t.Error("packages that are not imported are offered where nothing was typed")
	}
}

// TestCandidateKinds checks the kind and type of completions.
func TestCandidateKinds(t *testing.T) {
	in := completing(t)
	for src, want := range map[string]string{
		"b.Sh":        "Show\tmethod\tfunc() string",
		"b.X":         "Xs\tfield\tint",
		"lim":         "limit\tconst\tuntyped int",
		"zw":          "zwölf\tvar\tint",
		"add":         "add\tfunc\tfunc(a int, b int) int",
		"Spea":        "Speaker\ttype\tinterface{Speak(loud bool) string}",
		"strin":       "string\ttype\t\nstrings\tpackage\tstrings",
		"appe":        "append\tfunc\t",
		"contin":      "continue\tkeyword\t",
		"sort.IntsA":  "IntsAreSorted\tfunc\tfunc([]int) bool",
		"strcon":      "strconv\timport\tstrconv",
		"math.MaxInt": "MaxInt\tconst\tuntyped int\nMaxInt16\tconst\tuntyped int\nMaxInt32\tconst\tuntyped int\nMaxInt64\tconst\tuntyped int\nMaxInt8\tconst\tuntyped int",
	} {
		if got := completions(in, src); got != want {
			t.Errorf("%q completes to %q, want %q", src, got, want)
		}
	}
}

// TestCompleteLeavesNothing checks that completion does not change the session.
func TestCompleteLeavesNothing(t *testing.T) {
	in := completing(t)
	before := completions(in, "b.")
	for _, src := range []string{"func (p P) Late() { p.", "type P struct { other int }\nvar p P\np.", "b := 5\nb.", "sort.Ints(a); sort.IntsA"} {
		in.help.Complete(src)
	}
	if after := completions(in, "b."); after != before {
		t.Errorf("after other completions b. is %q", after)
	}
	if in.checker.Imports()["sort"] != "" {
		t.Error("completing imported a package")
	}
	if got := mustEval(t, in, "b.Xs"); got != "1" {
		t.Errorf("b.Xs is %s", got)
	}
}

// FuzzComplete checks that completion does not panic for any text.
func FuzzComplete(f *testing.F) {
	in := completing(f)
	for _, s := range []string{"b.", "func (", "type T struct {", "if x := b.", "import (\"", "P{", "a[", "switch {case", "func f[T", "x, y = ", "var (a"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, src string) { in.help.Complete(src) })
}

// BenchmarkComplete measures a completion in a function of the size that people write at a prompt.
func BenchmarkComplete(b *testing.B) {
	in := completing(b)
	src := "func work(n int) {\n" + strings.Repeat("\tfor i := range n {\n\t\tfmt.Println(strings.Repeat(\"x\", i), add(i, n))\n\t}\n", 30) + "\tb.Sh"
	for b.Loop() {
		if got := in.help.Complete(src); len(got) != 1 || got[0] != (session.Candidate{Name: "Show", Kind: "method", Type: "func() string"}) {
			b.Fatal(got)
		}
	}
}
