package interp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/internal/values"
	"github.com/symmrepl/symmrepl/session"
)

// step is a cell and its expected outcome.
type step struct {
	cell  string
	value string       // "" for none
	out   string       // what it prints
	err   string       // position and message of its error
	kind  session.Kind // of the error
}

var sessions = []struct {
	name  string
	steps []step
}{
	{"values", []step{
		{cell: "1 + 2", value: "3"},
		{cell: `"a" + "b"`, value: `"ab"`},
		{cell: "1.5 * 2", value: "3"},
		{cell: "'a'", value: "97"},
		{cell: "true && false", value: "false"},
		{cell: "nil", value: "nil"},
		{cell: "[]int{1, 2, 3}", value: "[]int{1, 2, 3}"},
		{cell: "[]int(nil)", value: "[]int(nil)"},
		{cell: `map[string]int{"b": 2, "a": 1}`, value: `map[string]int{"a": 1, "b": 2}`},
		{cell: "[2]bool{true}", value: "[2]bool{true, false}"},
		{cell: "time.Second * 2", value: "2s"},
		{cell: "fmt.Errorf(\"e %d\", 1)", value: "e 1"},
		{cell: "func(a int) string { return \"\" }", value: "func(a int) string"},
		{cell: "make(chan int)", value: "chan int"},
		{cell: "math.Pi", value: "3.141592653589793"},
		{cell: "float32(0.1)", value: "0.1"},
		{cell: "1 << 70 >> 69", value: "2"},
		{cell: "complex(1, 2)", value: "(1+2i)"},
		{cell: "any(5)", value: "5"},
		{cell: "[]any{1, \"a\", nil}", value: `[]any{1, "a", nil}`},
		{cell: "struct{ A int; B string }{1, \"x\"}", value: `struct{A int; B string}{A: 1, B: "x"}`},
		{cell: "func() (int, string, error) { return 1, \"q\", nil }()", value: `1, "q", nil`},
		{cell: "func() {}()", value: ""},
		{cell: "len(\"abc\")", value: "3"},
		{cell: "x := 5", value: ""},
		{cell: "x", value: "5"},
		{cell: "&x", value: "(*int)(&5)"},
		{cell: "x == 5", value: "true"},
		{cell: "// only a comment", value: ""},
		{cell: "", value: ""},
	}},
	{"a semicolon at the end shows no value", []step{
		{cell: "3;"},
		{cell: "x := 5; x;"},
		{cell: "x; // a comment\n\n/* another */"},
		{cell: "x // a comment;", value: "5"},
		{cell: "x /* ; */", value: "5"},
		{cell: "\"a;\"", value: `"a;"`},
		{cell: "x, 2;"},
		{cell: "nil;"},
		{cell: "func() (int, error) { x++; return x, nil }();"},
		{cell: "x", value: "6"},
		{cell: "c := make(chan int, 1); c <- 7; <-c;"},
		{cell: "fmt.Println(x);", out: "6\n"},
		{cell: "[]int{1}[x];", err: "cell[13]:1:1: panic: runtime error: index out of range [6] with length 1", kind: session.KindPanic},
		{cell: "func double(x int) int { return 2 * x }; double(x)", value: "12"},
		{cell: "for range 2 { x++ };"},
		{cell: "x, y := 1, 2; y;"},
		{cell: "x == 1;"},
		{cell: "x + nope;", err: "cell[18]:1:5: undefined: nope", kind: session.KindType},
	}},
	{"values of own types", []step{
		{cell: "type P struct{ X, y int }\ntype N int\ntype S []P"},
		{cell: "P{1, 2}", value: "P{X: 1, y: 2}"},
		{cell: "&P{1, 2}", value: "&P{X: 1, y: 2}"},
		{cell: "N(3)", value: "N(3)"},
		{cell: "S{{1, 2}}", value: "S{P{X: 1, y: 2}}"},
		{cell: "map[N]*P{1: nil}", value: "map[N]*P{N(1): (*P)(nil)}"},
		{cell: "var a any = P{3, 4}\na", value: "P{X: 3, y: 4}"},
		{cell: "[]any{P{5, 6}, N(7)}", value: "[]any{P{X: 5, y: 6}, N(7)}"},
		{cell: "type L struct{ V int; Next *L }\n&L{1, &L{2, nil}}", value: "&L{V: 1, Next: &L{V: 2, Next: (*L)(nil)}}"},
		{cell: "func() (p P, err error) { return }()", value: "P{X: 0, y: 0}, nil"},
	}},
	{"values that describe themselves", []step{
		{cell: "type P struct{ A int }\nfunc (p P) String() string { return fmt.Sprint(\"P:\", p.A) }\np := P{3}\np", value: "P:3"},
		{cell: "&p", value: "P:3"},
		{cell: "var q *P\nq", value: "(*P)(nil)"},
		{cell: "type E struct{ n int }\nfunc (e *E) Error() string { return fmt.Sprint(\"E\", e.n) }\n&E{4}", value: "E4"},
		{cell: "var e error = &E{5}\ne", value: "E5"},
		{cell: "fmt.Println(p, &E{6})", out: "P:3 E6\n"},
	}},
	{"long values are shortened", []step{
		{cell: "make([]int, 70)", value: values.Printed{Text: "[]int{" + strings.Repeat("0, ", 64) + "… 6 more}"}.Break(values.Width)},
		{cell: "strings.Repeat(\"a\", 2000)", value: `"` + strings.Repeat("a", 1024) + `"… (2000 bytes)`},
	}},
	{"definitions stay", []step{
		{cell: "x := 1"},
		{cell: "x++\nx", value: "2"},
		{cell: "x := x * 10\nx", value: "20"},
		{cell: "y, z := x, \"a\""},
		{cell: "fmt.Println(x, y, z)", out: "20 20 a\n"},
		{cell: "var w float64\nw", value: "0"},
		{cell: "var ( a = 1; b, c = 2, \"c\" )\nfmt.Sprint(a, b, c)", value: `"1 2c"`},
		{cell: "const k = 10\nk * 2", value: "20"},
		{cell: "k + 1", value: "11"},
		{cell: "var y = 10; y++\ny", value: "11"},
		{cell: "var q = y\nq", value: "11"},
	}},
	{"a variable changes its type", []step{
		{cell: "x := 1"},
		{cell: "x := \"a\"\nx", value: `"a"`},
		{cell: "x := []int{1}\nx", value: "[]int{1}"},
		{cell: "x := 7\nx", value: "7"},
		{cell: "x := x + 1\nx", value: "8"},
		{cell: "x := fmt.Sprint(x)\nx", value: `"8"`},
		{cell: "x = 5", err: "cell[7]:1:5: cannot use 5 (untyped int constant) as string value in assignment", kind: session.KindType},
	}},
	{"a variable that is defined again without a value is zero", []step{
		{cell: "var x int = 5"},
		{cell: "var x int\nx", value: "0"},
	}},
	{"closures keep their variable", []step{
		{cell: "x := 1\nget := func() int { return x }\nset := func(v int) { x = v }"},
		{cell: "set(5)\nget() + x", value: "10"},
		{cell: "x := 7\nget()", value: "7"},
		{cell: "x := \"s\"\nget()", value: "7"},
		{cell: "set(9)\nfmt.Sprint(get(), x)", value: `"9s"`},
	}},
	{"functions are defined again", []step{
		{cell: "func f(a int) int { return a + 1 }\nfunc g(a int) int { return f(a) * 10 }\ng(1)", value: "20"},
		{cell: "func f(a int) int { return a + 2 }\nfunc h(a int) int { return f(a) * 100 }\nfmt.Sprint(g(1), h(1))", value: `"30 300"`},
		{cell: "func f(a int) int { return a + 3 }\nfmt.Sprint(g(1), h(1))", value: `"40 400"`},
		{cell: "k := f\nfunc f(a int) int { return -a }\nfmt.Sprint(k(1), g(1))", value: `"-1 -10"`},
		{cell: "func f(s string) string { return s + \"!\" }\nf(\"x\") + fmt.Sprint(g(1))", value: `"x!-10"`},
		{cell: "func r(n int) int { if n < 2 { return 1 }; return n * r(n-1) }\nr(5)", value: "120"},
		{cell: "func r(n int) int { if n < 2 { return 1 }; return 2 * r(n-1) }\nr(5)", value: "16"},
	}},
	{"functions use variables of their cell", []step{
		{cell: "x := 10\nfunc f() int { return x + y }\ny := 5\nf()", value: "15"},
		{cell: "x = 100\nf()", value: "105"},
	}},
	{"a function becomes a variable and back", []step{
		{cell: "func f() int { return 1 }"},
		{cell: "f := 5\nf", value: "5"},
		{cell: "func f() int { return 2 }\nf()", value: "2"},
	}},
	{"types and methods", []step{
		{cell: "type P struct{ A int }\nfunc (p P) M() int { return p.A }\nfunc (p *P) Inc() { p.A++ }\np := P{1}\nfunc use(p P) int { return p.M() }\np.Inc()\nuse(p)", value: "2"},
		{cell: "func (p P) M() int { return p.A * 10 }\nfunc (p P) N() string { return fmt.Sprint(\"N\", p.M()) }\nfmt.Sprint(p.M(), use(p), p.N())", value: `"20 20N20"`},
		{cell: "func (p *P) Inc() { p.A += 5 }\np.Inc()\np", value: "P{A: 7}"},
		{cell: "func (p P) M() string { return \"\" }",
			err: "cell[4]:1:12: method P.M was defined as func() int; define the type again to change that", kind: session.KindType},
		{cell: "func (p P) String() string { return fmt.Sprint(\"P#\", p.A) }\nvar s fmt.Stringer = p\nfmt.Println(p, s)", out: "P#7 P#7\n"},
		{cell: "type P struct{ B string }\np", value: "P#7"},
		{cell: "q := P{\"b\"}\nq", value: `P{B: "b"}`},
		{cell: "func (p P) M() string { return p.B }\nq.M() + fmt.Sprint(p.M())", value: `"b70"`},
		{cell: "p = q", err: "cell[9]:1:5: cannot use q (variable of struct type P) as P value in assignment", kind: session.KindType},
		{cell: "func (i int) Bad() {}", err: "cell[10]:1:9: cannot define new methods on non-local type int", kind: session.KindType},
	}},
	{"own types of the same shape differ", []step{
		{cell: "type A struct{ X int }\ntype B struct{ X int }\ntype I int"},
		{cell: "var v any = A{1}\n_, a := v.(A)\n_, b := v.(B)\nfmt.Sprint(a, b)", value: `"true false"`},
		{cell: "v = I(3)\n_, i := v.(int)\n_, j := v.(I)\nfmt.Sprint(i, j)", value: `"false true"`},
		{cell: "v.(B)", err: "cell[4]:1:1: panic: interface conversion: interface {} is main.I, not main.B", kind: session.KindPanic},
	}},
	{"a method set of an earlier type grows", []step{
		{cell: "type T struct{ n int }\nt := T{3}"},
		{cell: "type Getter interface{ Get() int }"},
		{cell: "func (t T) Get() int { return t.n }\nvar g Getter = t\ng.Get()", value: "3"},
		{cell: "func (t T) broken() int { return undefined }", err: "cell[4]:1:34: undefined: undefined", kind: session.KindType},
		{cell: "t.broken()", err: "cell[5]:1:3: t.broken undefined (type T has no field or method broken)", kind: session.KindType},
	}},
	{"imports", []step{
		{cell: `import "sort"`},
		{cell: "s := []int{2, 1}\nsort.Ints(s)\ns", value: "[]int{1, 2}"},
		{cell: "import (\n\t\"sort\"\n\tstr \"strconv\"\n)\nstr.Itoa(5)", value: `"5"`},
		{cell: `import "no/such"`, err: "cell[4]:1:8: package no/such is not available in cells", kind: session.KindType},
		{cell: "import \"math/rand\"\nimport r2 \"math/rand\"\nr2.Intn(1) + rand.Intn(1)", value: "0"},
		{cell: "strings := 5\nstrings", value: "5"},
		{cell: "import \"strings\"\nstrings.ToUpper(\"a\")", value: `"A"`},
		{cell: "symm.KindMisuse", value: `symm.Kind("misuse")`},
		{cell: "var t *symm.Tensor = \"symmem.F32\"",
			err:  "cell[9]:1:22: cannot use \"symmem.F32\" (untyped string constant) as *symm.Tensor value in variable declaration",
			kind: session.KindType},
		{cell: "var a any = symm.F32\na.(*symm.Group)",
			err: "cell[10]:2:1: panic: interface conversion: interface {} is symm.DType, not *symm.Group", kind: session.KindPanic},
		{cell: "panic(\"symmem.F32\")", err: "cell[11]:1:1: panic: symmem.F32", kind: session.KindPanic},
		{cell: "import bio \"bufio\"\nvar r *bio.Reader = 1",
			err:  "cell[12]:2:21: cannot use 1 (untyped int constant) as *bio.Reader value in variable declaration",
			kind: session.KindType},
		{cell: "symmem := struct{ T int }{}"},
		{cell: "symmem.U", err: "cell[14]:1:8: symmem.U undefined (type struct{T int} has no field or method U)", kind: session.KindType},
		{cell: "import \"github.com/symmrepl/symmrepl/symmem\"\nvar t *symmem.Tensor = 1",
			err: "cell[15]:2:24: cannot use 1 (untyped int constant) as *symmem.Tensor value in variable declaration", kind: session.KindType},
	}},
	{"a longer name of a package", []step{
		{cell: "import ourSymm \"github.com/symmrepl/symmrepl/symmem\"\nvar t *ourSymm.Tensor"},
		{cell: "t = 1", err: "cell[2]:1:5: cannot use 1 (untyped int constant) as *symm.Tensor value in assignment", kind: session.KindType},
	}},
	{"errors of the checker", []step{
		{cell: "x := 1\ny := undefinedName", err: "cell[1]:2:6: undefined: undefinedName", kind: session.KindType},
		{cell: "x", err: "cell[2]:1:1: undefined: x", kind: session.KindType},
		{cell: "var s string = 5", err: "cell[3]:1:16: cannot use 5 (untyped int constant) as string value in variable declaration", kind: session.KindType},
		{cell: "a := 1\n1 + 1\na", err: "cell[4]:2:1: 1 + 1 (untyped int constant 2) is not used", kind: session.KindType},
		{cell: "func f() int { }", err: "cell[5]:1:16: missing return", kind: session.KindType},
		{cell: "fmt.Printl(1)", err: "cell[6]:1:5: undefined: fmt.Printl", kind: session.KindType},
		{cell: "for i := 0; i < 3; i++ { j := i }", value: ""},
		{cell: "return 5", err: "cell[8]:1:8: too many return values\n\thave (number)\n\twant ()", kind: session.KindType},
		{cell: "x := 1\nfunc x() {}", err: "cell[9]:1:1: x redeclared in this cell", kind: session.KindType},
	}},
	{"errors of the parser", []step{
		{cell: "x := ", err: "cell[1]:1:6: expected operand, found the end of the cell", kind: session.KindSyntax},
		{cell: "a := 1\nfor {", err: "cell[2]:2:6: expected ';', found the end of the cell", kind: session.KindSyntax},
		{cell: "}", err: "cell[3]:1:1: syntax error: unexpected }", kind: session.KindSyntax},
		{cell: "if x = 1 {}", err: "cell[4]:1:4: expected boolean expression, found assignment (missing parentheses around composite literal?)", kind: session.KindSyntax},
		{cell: "1 2", err: "cell[5]:1:3: expected ';', found 2", kind: session.KindSyntax},
	}},
	{"nothing of a cell that does not check happens", []step{
		{cell: "x := 1"},
		{cell: "fmt.Println(\"printed\")\nx = 2\ny := nope", err: "cell[2]:3:6: undefined: nope", kind: session.KindType},
		{cell: "x", value: "1"},
		{cell: "func f() {}\ntype T int\nz := 1\nbad", err: "cell[4]:4:1: undefined: bad", kind: session.KindType},
		{cell: "f()", err: "cell[5]:1:1: undefined: f", kind: session.KindType},
	}},
	{"panics", []step{
		{cell: "panic(\"boom\")", err: "cell[1]:1:1: panic: boom", kind: session.KindPanic},
		{cell: "a := []int{1}\ni := 5\na[i]", err: "cell[2]:3:1: panic: runtime error: index out of range [5] with length 1", kind: session.KindPanic},
		{cell: "var m map[string]int\nm[\"a\"] = 1", err: "cell[3]:2:1: panic: assignment to entry in nil map", kind: session.KindPanic},
		{cell: "z := 0\n\nb := 1 / z", err: "cell[4]:3:6: panic: runtime error: integer divide by zero", kind: session.KindPanic},
		{cell: "type T struct{ n int }\nvar p *T\np.n",
			err: "cell[5]:3:1: panic: runtime error: invalid memory address or nil pointer dereference", kind: session.KindPanic},
		{cell: "panic(fmt.Errorf(\"wrapped %d\", 1))", err: "cell[6]:1:1: panic: wrapped 1", kind: session.KindPanic},
		{cell: "func f(n int) int {\n\tif n == 0 {\n\t\tpanic(\"deep\")\n\t}\n\treturn f(n-1)\n}\nf(3)",
			err: "cell[7]:3:3: panic: deep", kind: session.KindPanic},
		{cell: "f(1)", err: "cell[7]:3:3: panic: deep", kind: session.KindPanic},
		{cell: "x := 1\nfmt.Println(x)\npanic(x)", out: "1\n", err: "cell[9]:3:1: panic: 1", kind: session.KindPanic},
		{cell: "x", value: "1"},
		{cell: "for i := 0; i < 3; i++ {\n\tif i == 2 {\n\t\tpanic(i)\n\t}\n}", err: "cell[11]:3:3: panic: 2", kind: session.KindPanic},
		{cell: "go func() {\n\tpanic(\"in a goroutine\")\n}()\nselect {}",
			err: "cell[12]:2:2: panic: in a goroutine (in a goroutine)", kind: session.KindPanic},
		{cell: "strings.Repeat(\"a\", -1)", err: "cell[13]:1:1: panic: strings: negative Repeat count", kind: session.KindPanic},
		{cell: "s := \"abc\"\ns[5:]", err: "cell[14]:2:1: panic: runtime error: slice bounds out of range [5:3]", kind: session.KindPanic},
		{cell: "func() { defer func() { recover() }(); panic(1) }()\n5", value: "5"},
	}},
	{"comma ok at the top level", []step{
		{cell: "m := map[string]int{\"a\": 1}\nv, ok := m[\"a\"]\nw, no := m[\"b\"]\nfmt.Sprint(v, ok, w, no)", value: `"1 true 0 false"`},
		{cell: "var x any = 5\nn, isInt := x.(int)\ns, isString := x.(string)\nfmt.Sprint(n, isInt, s, isString)", value: `"5 truefalse"`},
		{cell: "ch := make(chan int, 1)\nch <- 3\na, more := <-ch\nclose(ch)\nb, more2 := <-ch\nfmt.Sprint(a, more, b, more2)", value: `"3 true 0 false"`},
		{cell: "switch y := x.(type) { case int: fmt.Println(\"int\", y); case string: fmt.Println(\"string\") }", out: "int 5\n"},
		{cell: "var p, q = m[\"a\"]\nfmt.Sprint(p, q)", value: `"1 true"`},
	}},
	{"defer at the top level", []step{
		{cell: "x := 1\ndefer fmt.Println(\"deferred\", x)\nx = 2\nfmt.Println(\"end\", x)", out: "end 2\ndeferred 1\n"},
		{cell: "cl := func() { fmt.Println(\"cl\") }\ndefer cl()", out: "cl\n"},
		{cell: "defer func() { fmt.Println(\"recovered\", recover()) }()\npanic(\"p\")", out: "recovered p\n"},
		{cell: "func() { for i := range 3 { defer func() { fmt.Print(i, \" \") }() } }()", out: "2 1 0 "},
	}},
	{"cells that begin with a function literal run once", []step{
		{cell: "func() { fmt.Println(\"once\") }()", out: "once\n"},
		{cell: "1", value: "1"},
		{cell: "func main() { fmt.Println(\"main\") }"},
		{cell: "2", value: "2"},
		{cell: "main()", out: "main\n"},
		{cell: "func init() { fmt.Println(\"init\") }", out: "init\n"},
		{cell: "3", value: "3"},
	}},
	{"goroutines outlive their cell", []step{
		{cell: "in, out := make(chan int), make(chan int)\ngo func() { for v := range in { out <- v * 2 } }()"},
		{cell: "in <- 5\n<-out", value: "10"},
		{cell: "in <- 6\n<-out", value: "12"},
		{cell: "close(in)"},
	}},
	{"a dot import", []step{
		{cell: "import . \"strings\""},
		{cell: "Repeat(\"a\", 3)", value: `"aaa"`},
		{cell: "Repeat := 1"},
		{cell: "Repeat + len(ToUpper(\"x\"))", value: "2"},
		{cell: "func ToUpper() int { return 5 }\nToUpper()", value: "5"},
	}},
	{"types that the interpreter has not", []step{
		{cell: "type state func(int) state"},
		{cell: "var first state\nfirst = func(n int) state { fmt.Print(n); return first }\nfirst(1)(2)\nfmt.Printf(\" %T\\n\", first)", out: "12 main.state\n"},
		{cell: "func (s state) name() string { return \"state\" }",
			err: "cell[3]:1:16: a method of the type state, which contains itself other than as a field of a struct; make it a struct with one field", kind: session.KindUnsupported},
		{cell: "type state struct{ next func(int) state }\nvar s state\ns = state{func(n int) state { fmt.Print(n); return s }}\ns.next(1).next(2)\nfmt.Println()", out: "12\n"},
		{cell: "type tree []tree", err: "cell[5]:1:6: the type tree contains itself other than as a field of a struct; make it a struct with one field", kind: session.KindUnsupported},
		{cell: "type tree struct{ kids []tree }\nt := tree{[]tree{{}, {[]tree{{}}}}}\nlen(t.kids[1].kids)", value: "1"},
	}},
	{"generics across cells", []step{
		{cell: "func Map[T, U any](xs []T, f func(T) U) []U { var out []U; for _, x := range xs { out = append(out, f(x)) }; return out }"},
		{cell: "Map([]int{1, 2}, func(i int) string { return fmt.Sprint(i) })", value: `[]string{"1", "2"}`},
		{cell: "type Stack[T any] struct{ items []T }\nfunc (s *Stack[T]) Push(v T) { s.items = append(s.items, v) }\nfunc (s *Stack[T]) Len() int { return len(s.items) }"},
		{cell: "var s Stack[int]\ns.Push(1)\ns.Push(2)\ns.Len()", value: "2"},
	}},
	{"assertions find types that come later", []step{
		{cell: "type Shape interface{ Area() float64 }\ntype quiet interface{ area() int }"},
		{cell: "func area(x any) float64 {\n\tif s, ok := x.(Shape); ok { return s.Area() }\n\treturn -1\n}\n" +
			"func inner(x any) int {\n\tswitch q := x.(type) {\n\tcase quiet: return q.area()\n\tcase interface{ Area() float64 }: return int(q.Area())\n\t}\n\treturn -1\n}"},
		{cell: "type Sq struct{ s float64 }\nfunc (s Sq) Area() float64 { return s.s * s.s }\ntype G[T any] struct{ x T }\nfunc (g *G[T]) area() int { return 7 }"},
		{cell: "fmt.Sprint(area(Sq{2}), inner(Sq{3}), inner(&G[int]{1}), inner(G[string]{}))", value: `"4 9 7 -1"`},
		{cell: "type C int\nfmt.Sprint(area(C(3)), inner(C(4)))", value: `"-1 -1"`},
		{cell: "func (c C) Area() float64 { return 9 }\nfunc (c C) area() int { return 10 }"},
		{cell: "fmt.Sprint(area(C(3)), inner(C(4)))", value: `"9 10"`},
		{cell: "func() { type L struct{ Sq }; fmt.Print(area(L{Sq{5}}), area(&L{Sq{6}})) }()", out: "25 36"},
		{cell: "x := any(&Sq{1})"},
		{cell: "type Sq struct{ s int }\ny := any(&Sq{4})\nfmt.Sprint(area(x), area(y))", value: `"1 -1"`},
	}},
	{"names that shadow", []step{
		{cell: "len := 3\nlen", value: "3"},
		{cell: "type string int\nvar s string = 5\ns", value: "string(5)"},
	}},
}

func TestSessions(t *testing.T) {
	for _, s := range sessions {
		t.Run(s.name, func(t *testing.T) { runSteps(t, s.steps) })
	}
}

// runSteps evaluates cells in a fresh session and compares their outcomes.
func runSteps(t *testing.T, steps []step) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	was := os.Stdout
	os.Stdout = out
	defer func() { os.Stdout = was }()
	in := open(t, Options{})
	printed := 0
	for i, st := range steps {
		r := evaluate(in, session.Cell{ID: i + 1, Source: st.cell})
		all, err := os.ReadFile(out.Name())
		if err != nil {
			t.Fatal(err)
		}
		text := string(all[printed:])
		printed = len(all)
		gotErr, gotKind := "", session.Kind("")
		if r.Err != nil {
			e := *r.Err
			if e.Kind == session.KindType || e.Kind == session.KindSyntax {
				e.Hint = "" // suggest_test.go holds those
			}
			gotErr, gotKind = e.Error(), e.Kind
		}
		if r.Value != st.value || text != st.out || gotErr != st.err || gotKind != st.kind {
			t.Errorf("cell[%d] %q\n got value %q output %q error %s %q\nwant value %q output %q error %s %q",
				i+1, st.cell, r.Value, text, gotKind, gotErr, st.value, st.out, st.kind, st.err)
		}
	}
}

// TestMethodAddedLater checks that a value stored in an interface before its type got a method
// equals one stored afterwards.
func TestMethodAddedLater(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, "type P struct{ A int }\nvar x any = P{1}\nx")
	mustEval(t, in, "func (p P) String() string { return \"p\" }")
	for source, want := range map[string]string{
		"x == any(P{1})": "true", "x == any(P{2})": "false", "_, ok := x.(P); ok": "true", "fmt.Sprint(any(P{3}))": `"p"`,
	} {
		if got := mustEval(t, in, source); got != want {
			t.Errorf("%s is %s, want %s", source, got, want)
		}
	}
	r := evaluate(in, session.Cell{ID: 9, Source: "type Q struct{ A int; B string }\npanic(Q{1, \"x\"})"})
	if r.Err == nil || r.Err.Msg != `panic: Q{A: 1, B: "x"}` {
		t.Errorf("a struct panics with %v", r.Err)
	}
}
