package interp

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// expressionCount is the number of random expressions that TestExpressions compares; make test-long
// compares 2000.
var expressionCount = flag.Int("expressions", 200, "compare so many random expressions with the Go toolchain")

// expressionPrelude declares what the expressions use: values of compiled packages and of the cell,
// and functions that take any.
const expressionPrelude = `import (
	"bytes"
	"errors"
	"image"
	"math/big"
	"net/url"
	"regexp"
	"strconv"
	"unicode"
)
var _, _, _, _, _, _ = bytes.Fields, errors.New, big.NewInt, regexp.MustCompile, strconv.Itoa, unicode.ToUpper
type P struct { X int; S string; L []int; Any any }
func (p P) Len() int { return len(p.S) + p.X }
func (p *P) Name() string { return p.S + "!" }
type Num int
func (n Num) String() string { return "n" + strconv.Itoa(int(n)) }
type Err struct{ n int }
func (e Err) Error() string { return "err" + strconv.Itoa(e.n) }
type Many struct{ F func(...any) string; G func(string, any) string }
var X, Y = 3, 5
var Q, B, F, W = "q r", true, 2.5, []string{"u", "vw"}
var L, V = []int{4, 5, 6}, url.Values{"a": {"b", "c d"}}
var T = []P{{X: 1, S: "one", L: []int{7}}, {X: 2, S: "two", Any: 9}}
func words(s string) []string { return strings.Fields(s + " w") }
func points(n int) []image.Point { return []image.Point{{n, 1}, {2, n}} }
func kind(x any) string { s := fmt.Sprintf("%T", x); return s[strings.LastIndex(s, ".")+1:] }
func anys(list ...any) string { s := ""; for _, x := range list { s += fmt.Sprintf("%s %v;", kind(x), x) }; return s }
func one(x any) string { return fmt.Sprintf("%s %v", kind(x), x) }
func list(xs []any) string { return anys(xs...) }
func pick[T any](c bool, a, b T) T { if c { return a }; return b }
var M = Many{anys, func(s string, x any) string { return s + one(x) }}
func attempt(f func()) { defer func() { if e := recover(); e != nil { fmt.Println("panic") } }(); f() }
`

// expressionsBy has expressions by type. In {T} goes an expression of type T. Strings that are
// indexed are not empty.
var expressionsBy = map[string][]string{
	"int": {"X", "Y", "2", "L[1]", "({int} + {int})", "({int} * {int})", "(-{int})", "(^{int})", "({int} &^ 2)", "len({string})", "len({[]string})", "len({[]int})",
		"image.Pt({int}, {int}).X", "points({int})[1].Y", "points({int})[0].Add(image.Pt(1, 2)).X", "strings.Index({string}, {string})", "int({byte})",
		"int(big.NewInt(int64({int})).Int64())", "big.NewInt(int64({int})).Cmp(big.NewInt(3))", "pick({bool}, {int}, {int})", "func() int { return {int} }()",
		"min({int}, {int})", "T[0].X", "T[1].Len()", "(&P{X: {int}}).Len()", "(P{X: {int}, S: {string}}).X", "*(&[]int{{int}, {int}}[1])", "[]int{{int}, 8}[0]",
		"map[string]int{{string}: {int}}[{string}]", "({[]int})[0]", "strings.Count({string}, \"a\")", "T[0].L[0]", "cap([]int{{int}})", "({int} << 1)", "({int} / 3)",
		"strings.Compare({string}, {string})", "any({int}).(int)", "int(F * {float64})", "int(bytes.Fields([]byte({string} + \" z\"))[0][0])"},
	"string": {"Q", `"lit"`, "({string} + {string})", "strings.Fields({string} + \" a\")[0]", "strings.ToUpper({string})", "words({string})[0]", "W[1]", "V[\"a\"][1]",
		"V.Get(\"a\")", "url.Values{\"k\": {{string}}}[\"k\"][0]", "strconv.Itoa({int})", "string({byte})", "fmt.Sprint({any})", "T[0].S", "T[1].Name()", "({string} + \"x\")[:1]",
		"strings.Split({string} + \",b\", \",\")[1]", "regexp.MustCompile(`(.)b`).FindAllStringSubmatch({string} + \"ab\", 1)[0][1]", "pick({bool}, {string}, {string})",
		"func() string { return {string} }()", "(&url.URL{Host: {string}}).Host", "strings.NewReplacer(\"a\", \"b\").Replace({string})", "one({any})", "anys({any}, {any})",
		"anys({any}, {[]int})", "anys([]any{{any}, {any}}...)", "M.F({any}, {any})", "M.G({string}, {any})", "list([]any{{any}, {any}})", "Num({int}).String()", "Err{{int}}.Error()",
		"(errors.New({string})).Error()", "any({string}).(string)", "({[]string})[0]", "string([]rune({string} + \"é\")[:1])", "strings.Fields({string} + \" bc\")[0][:1]",
		"fmt.Sprintf(\"%v|%v\", {any}, {any})", "fmt.Sprintln({any}, {[]string})", "map[bool]string{true: {string}}[{bool}]", "strings.Join({[]string}, {string})"},
	"bool": {"B", "(!{bool})", "({int} == {int})", "({int} < {int})", "({string} == {string})", "({string} != \"a\")", "({bool} && {bool})", "({bool} || {bool})",
		"strings.Contains({string}, {string})", "({float64} > {float64})", "({byte} == 'a')", "(any({int}) == any({any}))", "(any({any}) == nil)", "(T[0].X == {int})", "(words({string})[0] == {string})",
		"(strings.Fields({string} + \" a\")[0] == {string})", "unicode.IsUpper(rune({byte}))", "image.Pt(1, 2).In(image.Rect(0, 0, {int}, 9))", "(points({int})[0] == image.Pt(1, 1))",
		"big.NewInt(int64({int})).IsInt64()", "any({bool}).(bool)", "errors.Is({error}, {error})", "({error} == nil)", "(len({[]int}) > 2)", "(&T[0] != nil)"},
	"float64":  {"F", "1.5", "({float64} * {float64})", "(-{float64})", "float64({int})", "({float64} + float64({int}))", "[]float64{{float64}, 1}[0]", "pick({bool}, {float64}, {float64})"},
	"byte":     {"'c'", "({string} + \"x\")[0]", "[]byte({string} + \"y\")[0]", "bytes.Fields([]byte({string} + \" z\"))[0][0]", "byte(X + {int})", "({byte} & 15)", "({byte} + 1)"},
	"error":    {"error(nil)", "error(Err{{int}})", "errors.New({string})", "fmt.Errorf(\"e %v\", {any})", "errors.Unwrap(fmt.Errorf(\"w %w\", {error}))"},
	"[]string": {"W", "strings.Fields({string} + \" a\")", "[]string{{string}, {string}}", "V[\"a\"]", "words({string})", "append([]string{}, {string}, {string})", "strings.Split({string}, \",\")", "W[1:]"},
	"[]int":    {"L", "[]int{{int}, {int}}", "append(L[:1:1], {int})", "L[1:]", "T[0].L", "[]int{1: {int}}", "func() []int { return []int{{int}} }()"},
	"any": {"{int}", "{string}", "{bool}", "{float64}", "{byte}", "{int}", "{string}", "{bool}", "any({int})", "Num({int})", "P{X: {int}, S: {string}}.L", "T[1].Any", "[2]int{{int}, {int}}",
		"func() any { return {any} }()", "image.Pt({int}, {int})", "points({int})[0]", "any({string})", "[]any{{int}, {string}}[1]", "pick[any]({bool}, {any}, {any})", "struct{ A, B any }{{bool}, {int}}",
		"map[string]any{\"k\": {any}}[\"k\"]", "rune({byte})", "({int} == {int})", "(!{bool})", "(-{int})", "any(nil)"},
}

// expressionForms are the places of expressions; $E and $F are expressions of type $T.
var expressionForms = []string{
	"fmt.Println($E, $F, []int{1})", "fmt.Println($E, $F)", "fmt.Println([]any{$E, $F}...)", "fmt.Println([]$T{$E, $F})", "fmt.Println([]any{$E, $F, L})", "fmt.Println([3]any{1: $E, $F})",
	"fmt.Println(struct{ A any; B $T }{$E, $F})", "fmt.Println(struct{ A any; B $T }{B: $F, A: $E})", "fmt.Println([]struct{ A any; B $T }{{$E, $F}, {$F, $E}})",
	"fmt.Println(*[]*struct{ A any; B $T }{{$E, $F}}[0])", "fmt.Println(func() any { return $E }(), func() $T { return $F }())",
	"a, b := func() (any, $T) { return $E, $F }(); fmt.Println(a, b)", "a, b := func() (x any, y $T) { x, y = $E, $F; return }(); fmt.Println(a, b)",
	"c := make(chan any, 2); c <- $E; c <- $F; fmt.Println(<-c, <-c)", "c := make(chan []any, 1); c <- []any{$E, $F}; fmt.Println(<-c)", "c := make(chan $T, 1); c <- $E; fmt.Println(<-c)",
	"fmt.Println(map[string]any{\"a\": $E, \"b\": $F})", "fmt.Println(map[string]$T{\"a\": $E})", "fmt.Println(map[string][]any{\"a\": {$E, $F}})", "m := map[string]any{}; m[\"k\"] = $E; m[\"l\"] = $F; fmt.Println(m)",
	"var x any = $E; var y any; y = $F; fmt.Println(x, y)", "var x, y any; x, y = $E, $F; fmt.Println(x, y)", "x, y := $E, any($F); fmt.Println(x, y)", "var x, y any = $E, $F; fmt.Println(x, y)",
	"fmt.Println([]any{[]any{$E}, map[int][]any{1: {$F}}})", "fmt.Println(anys($E, $F), anys($E, L), M.F($E, $F, W))", "fmt.Println(one($E), M.G(Q, $F))", "fmt.Println(list([]any{$E, $F}))",
	"defer fmt.Println($E, $F, L)", "defer anys($E); fmt.Println($F)", "go func(list ...any) {}($E, $F, L); fmt.Println($E)", "switch x := any($E).(type) { case nil: fmt.Println(\"nil\"); default: fmt.Printf(\"%T %v\\n\", x, x) }",
	"fmt.Println(append([]any{}, $E, $F), append([]any{$F}, []any{$E}...))", "if x := any($E); x != nil { fmt.Println(x) } else { fmt.Println($F) }", "for _, x := range []any{$E, $F} { fmt.Println(x) }",
	"for i := range 2 { fmt.Println([]any{$E, i}, $F) }", "f := func(x any, y ...any) { fmt.Println(x, y) }; f($E, $F, L); f($F)", "fmt.Println(pick[any](B, $E, $F), pick[$T](B, $E, $F))", "fmt.Println([]any{($E), any($F)})",
	"w, p := strings.Fields(\"ab cd\"), points(3); fmt.Println([]any{w[0] == \"ab\", p[1].X * 2, w[1][:1], p[0].In(image.Rect(0, 0, 9, 9)), $E}, []string{w[0] + \"x\", w[1][1:]}, $F)",
	"x := P{Any: $E}; x.Any = $F; px := &x; px.Any = any($E); fmt.Println(x)", "x := []any{1, 2}; x[0], x[1] = $E, $F; fmt.Println(x)", "for x, i := any($E), 0; i < 1; i++ { fmt.Println(x, $F) }",
	"fmt.Println(func(list ...any) int { return len(list) }($E, $F, L), func(x any) any { return x }($E))", "e := fmt.Sprint($E, $F, []any{$F, $E}); fmt.Println(e)",
}

// expressionGenerator fills the holes of expressions.
type expressionGenerator struct{ *rand.Rand }

var expressionHole = regexp.MustCompile(`\{(int|string|bool|float64|byte|error|any|\[\]string|\[\]int)\}`)

func (g expressionGenerator) expr(typ string, depth int) string {
	list := expressionsBy[typ]
	for {
		e := list[g.IntN(len(list))]
		if depth > 0 || !expressionHole.MatchString(e) || g.IntN(8) == 0 {
			return expressionHole.ReplaceAllStringFunc(e, func(h string) string { return g.expr(h[1:len(h)-1], depth-1) })
		}
	}
}

// cell returns a statement that prints expressions in one of the forms, at top level or in a function.
func (g expressionGenerator) cell(i int) string {
	kinds := []string{"int", "int", "string", "string", "bool", "bool", "bool", "float64", "byte", "error", "any", "any", "[]string", "[]int"}
	typ := kinds[g.IntN(len(kinds))]
	text := regexp.MustCompile(`\$[EFT]`).ReplaceAllStringFunc(expressionForms[g.IntN(len(expressionForms))], func(hole string) string {
		if hole == "$T" {
			return typ
		}
		return g.expr(typ, 2)
	})
	if g.IntN(2) == 0 && !strings.HasPrefix(text, "defer") {
		return fmt.Sprintf("{\nfmt.Print(%q)\n%s\n}", fmt.Sprint("#", i, " "), text)
	}
	return fmt.Sprintf("attempt(func() {\nfmt.Print(%q)\n%s\n})", fmt.Sprint("#", i, " "), text)
}

// TestExpressions checks that random expressions, of compiled values and values of cells, have in a
// session the values that they have with the toolchain, wherever they become values in interfaces.
func TestExpressions(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no Go toolchain here")
	}
	const each = 50
	var programs []program
	var cells [][]string
	for seed := range (*expressionCount + each - 1) / each {
		g := expressionGenerator{rand.New(rand.NewPCG(uint64(seed), 2))}
		var list []string
		for i := range each {
			list = append(list, g.cell(i))
		}
		cells = append(cells, list)
		programs = append(programs, program{name: fmt.Sprint("seed ", seed), source: expressionPrelude + strings.Join(list, "\n")})
	}
	for seed, want := range runGo(t, programs) {
		wanted := outputsOf(want)
		got := outputsOf(printedBy(t, append([]string{expressionPrelude}, cells[seed]...)))
		for i, cell := range cells[seed] {
			name := fmt.Sprint("#", i)
			text, printed := got[name]
			if want, ok := wanted[name]; !printed || !ok || text != want {
				t.Errorf("seed %d:\n%s\nprints\n%s\nwant\n%s", seed, cell, text, want)
			}
		}
	}
}

// outputsOf splits what the cells of expressions print, by their numbers.
func outputsOf(text string) map[string]string {
	out := map[string]string{}
	for _, part := range strings.Split("\n"+text, "\n#")[1:] {
		number, rest, _ := strings.Cut(part, " ")
		out["#"+number] = strings.TrimSuffix(rest, "\n")
	}
	return out
}

// printedBy runs cells in a session, and returns what they print, and the errors of those that fail.
func printedBy(t *testing.T, cells []string) string {
	in := open(t, Options{})
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		b, _ := io.ReadAll(r)
		read <- string(b)
	}()
	was := os.Stdout
	os.Stdout = w
	for i, cell := range cells {
		if e := in.Eval(context.Background(), session.Cell{ID: i + 1, Source: cell}).Err; e != nil {
			fmt.Fprintf(w, "\n#%d error: %s %s\n", i-1, e.Msg, e.Detail)
		}
	}
	os.Stdout = was
	w.Close()
	return <-read
}
