package interp

import (
	"io"
	"os"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// TestHints checks the hints for cells with errors.
func TestHints(t *testing.T) {
	in := completing(t)
	for _, c := range []struct{ src, msg, hint string }{
		// Names.
		{"limt + 1", "undefined: limt", "did you mean limit?"},
		{"LIMIT + 1", "undefined: LIMIT", "did you mean limit?"},
		{"ad(1, 2)", "undefined: ad", ""},
		{"lenn(a)", "undefined: lenn", "did you mean len?"},
		{"addd(1, 2)", "undefined: addd", "did you mean add?"},
		{"adn(1, 2)", "undefined: adn", "did you mean add?"},
		{"zwolf", "undefined: zwolf", "did you mean zwölf?"},
		{"func f() { total := 1; return totl }", "undefined: totl", "did you mean total?"},
		{"func f(count int) int { return cuont }", "undefined: cuont", "did you mean count?"},
		{"Println(1)", "undefined: Println", "did you mean fmt.Println or println?"},
		{"repeat(\"x\", 3)", "undefined: repeat", "did you mean strings.Repeat?"},
		{"xyzzy(3)", "undefined: xyzzy", ""},
		{"count = 3", "undefined: count", "count := … declares a variable"},
		{"limt = 3", "undefined: limt", "did you mean limit? limt := … declares a variable"},
		{"var v Speker", "undefined: Speker", "did you mean Speaker?"},
		{"strings.Contains(plain, b.y)", "undefined: plain", `did you mean "plain"? Text is written in quotes`},
		{"strings.Repeat(plain(), 2)", "undefined: plain", ""},
		{"strings.Repeat(\"x\", plain)", "undefined: plain", ""},
		{"import \"fmtt\"", "package fmtt is not available in cells", `did you mean "fmt"?`},
		{"import \"json\"", "package json is not available in cells", `did you mean "encoding/json"?`},
		{"import \"no/such\"", "package no/such is not available in cells", ""},
		// Members.
		{"fmt.Printl(1)", "undefined: fmt.Printl", "did you mean fmt.Print or fmt.Printf or fmt.Println?"},
		{"fmt.println(1)", "undefined: fmt.println (but have Println)", ""},
		{"strings.Contans(\"a\", \"b\")", "undefined: strings.Contans", "did you mean strings.Contains?"},
		{"sort.ints(a)", "undefined: sort", "did you mean sort.Ints?"},
		{"b.Shw()", "b.Shw undefined (type P has no field or method Shw)", "did you mean b.Show?"},
		{"b.xs", "b.xs undefined (type P has no field or method xs, but does have field Xs)", ""},
		{"newQ().Sett(1)", "newQ().Sett undefined (type *Q has no field or method Sett)", "did you mean Set?"},
		{"P{X: 1}", "unknown field X in struct literal of type P", ""},
		{"Q{Next: nil}", "unknown field Next in struct literal of type Q, but does have next", ""},
		{"Q{nxt: nil}", "unknown field nxt in struct literal of type Q", "did you mean next?"},
		// Arguments and results.
		{"add(1)", "not enough arguments in call to add\n\thave (number)\n\twant (int, int)", "add is func(a int, b int) int"},
		{"add(1, 2, 3)", "too many arguments in call to add\n\thave (number, number, number)\n\twant (int, int)", "add is func(a int, b int) int"},
		{"v, w, x := makeP(1)", "assignment mismatch: 3 variables but makeP returns 2 values", "makeP is func(n int) (P, error)"},
		{"var p P = makeP(1)", "multiple-value makeP(1) (value of type (P, error)) in single-value context",
			"name every value, or drop it by _: v, _ := makeP(1)"},
		{"func f() int { }", "missing return", "every way through the function has to end in a return, a panic or a loop without end"},
		{"if zwölf { }", "non-boolean condition in if statement", "a condition is a comparison, such as x != 0"},
		{"strings.Repeat(\"a\")", "not enough arguments in call to strings.Repeat\n\thave (string)\n\twant (string, int)",
			"func Repeat(s string, count int) string"},
		{"\n(&strings.Builder{}).WriteString()", "not enough arguments in call to (&strings.Builder{}).WriteString\n\thave ()\n\twant (string)",
			"func (b *Builder) WriteString(s string) (int, error)"},
		// Functions and methods.
		{"strings.WriteString(\"a\")", "undefined: strings.WriteString", "WriteString is a method of strings.Builder and strings.Replacer"},
		{"var now time.Time; now.Until()", "now.Until undefined (type time.Time has no field or method Until)", "Until is a function: time.Until(now)"},
		{"var month time.Time = 3", "cannot use 3 (untyped int constant) as time.Time value in variable declaration", ""},
		{"var r *strings.Reader = \"x\"", "cannot use \"x\" (untyped string constant) as *strings.Reader value in variable declaration",
			"strings.NewReader(…) makes one"},
		// Types that do not fit.
		{"zwölf + 1.5", "1.5 (untyped float constant) truncated to int", "the other operand is of type int: convert that one, by float64(…)"},
		{"zwölf + float64(1)", "invalid operation: zwölf + float64(1) (mismatched types int and float64)", "convert one of them, by int(…) or float64(…)"},
		{"var s string = zwölf", "cannot use zwölf (variable of type int) as string value in variable declaration", "strconv.Itoa(zwölf) is its text"},
		{"var f float32 = zwölf", "cannot use zwölf (variable of type int) as float32 value in variable declaration", "float32(zwölf) converts it"},
		{"var n int = b.y", "cannot use b.y (variable of type string) as int value in variable declaration", "package strconv reads numbers from text"},
		{"type Unit int; var u Unit", "nothing", ""},
		{"type Unit string", "nothing", ""},
		{"u = Unit(\"s\")", "cannot use Unit(\"s\") (constant \"s\" of string type Unit) as Unit value in assignment",
			"there are two types called Unit: a variable keeps the one that it was declared with; declare it again"},
		// Code that is not Go.
		{"package main\nfunc main() {}", "expected declaration, found 'package'",
			"cells have no package clause and no func main: statements stand by themselves; symmrepl run FILE and :load FILE run a program"},
		{"while zwölf < 3 { }", "expected ';', found zwölf", "Go's loops all begin with for: for x < 10 { … }"},
		{"for (int i = 0; i < 3; i++) { }", "expected ')', found i",
			"no parentheses, and := declares: for i := 0; i < n; i++ { … }, or for i := range n { … }"},
		{"if (zwölf == 3) println(1)", "expected ';', found println", "an if needs braces, also around one statement: if x < y { … }"},
		{"if zwölf == 3\n{\n}", "unexpected newline, expecting { after if clause", "the opening brace belongs at the end of the line before it"},
		{"func f(n int) int, int {\n}", "expected ';', found ','", "several results stand in parentheses: func f(n int) (int, int) { … }"},
		{"zwölf > 3 ? 1 : 2", "illegal character U+003F '?'", "Go has no ?: operator; use if and else"},
		{"x := 'text'", "illegal rune literal", "text is written in double quotes or backquotes; '…' is one character"},
		{"if zwölf = 3 { }", "expected boolean expression, found assignment (missing parentheses around composite literal?)", "== compares, = assigns"},
		{"++zwölf", "expected statement, found '++'", "x++ and x-- are statements of their own, written after the variable"},
		{"func f()\n{\n}", "missing function body", "the opening brace belongs on the line of func"},
		{"println(len(a)", "missing ',' before newline in argument list", "the cell ends with open brackets: add )"},
		{"func f() {\nx := []int{1,", "expected ';', found the end of the cell", "the cell ends with open brackets: add }}"},
		{"if zwölf == 1 {\n}\nelse {\n}", "expected statement, found 'else'", "else belongs on the line of the brace before it: } else {"},
		{"a = []int{\n1,\n2\n}", "missing ',' before newline in composite literal",
			"a line that goes on ends in a comma, also the last one before a closing bracket on its own line"},
	} {
		e := evaluate(in, session.Cell{ID: 1, Source: c.src}).Err
		if e == nil {
			e = &session.Error{Msg: "nothing"}
		}
		if e.Msg != c.msg || e.Hint != c.hint {
			t.Errorf("%q: %q with the hint %q, want %q with %q", c.src, e.Msg, e.Hint, c.msg, c.hint)
		}
	}
}

// TestAutomaticImports checks which packages are imported automatically, and the notes about it.
func TestAutomaticImports(t *testing.T) {
	for _, c := range []struct{ src, value, note, err string }{
		{"sort.SearchInts([]int{1, 3}, 3)", "1", "note: imported \"sort\"\n", ""},
		{"strconv.Itoa(len(bytes.Repeat([]byte{1}, 3)))", `"3"`, "note: imported \"bytes\"\nnote: imported \"strconv\"\n", ""},
		{"func f() int { return bits.Len(8) }\nf()", "4", "note: imported \"math/bits\"\n", ""},
		{"rand.IntN(1)", "0", "note: imported \"math/rand/v2\"\n", ""},
		{"rand.Intn(1)", "0", "note: imported \"math/rand\"\n", ""},
		{"n, _ := rand.Read(nil)\nn", "0", "note: imported \"crypto/rand\", not \"math/rand\"; an import chooses\n", ""},
		{"rand.Int() >= 0", "true", "note: imported \"math/rand/v2\", not \"crypto/rand\" or \"math/rand\"; an import chooses\n", ""},
		{"template.HTMLEscapeString(\"<\")", `"&lt;"`, "note: imported \"text/template\", not \"html/template\"; an import chooses\n", ""},
		{"unsafe.Sizeof(int32(1))", "0x4", "note: imported \"unsafe\"\n", ""},
		{"p := &[]int{4, 5}[0]\n*(*int)(unsafe.Add(unsafe.Pointer(p), unsafe.Sizeof(*p)))", "5", "note: imported \"unsafe\"\n", ""},
		{"scanner.Scanner{}", "", "", "undefined: scanner"},
		{"var b bytes.Buffer\nb.Len()", "0", "note: imported \"bytes\"\n", ""},
		{"sort := []int{1}\nsort[0]", "1", "", ""},
		{"symmem.Version", "", "", "undefined: symmem"},
		{"scanner.Foo", "", "", "undefined: scanner"},
		{"sort.Nothing()", "", "", "undefined: sort"},
		{"sort", "", "", "undefined: sort"},
		{"sort.Ints(nope)", "", "", "undefined: nope"},
		{"fmt.Sprint(1)", `"1"`, "", ""},
	} {
		in := open(t, Options{})
		var r session.Result
		note := stderrOf(t, func() { r = evaluate(in, session.Cell{ID: 1, Source: c.src}) })
		msg := ""
		if r.Err != nil {
			msg = r.Err.Msg
		}
		if r.Value != c.value || note != c.note || msg != c.err {
			t.Errorf("%q: %s, %q, error %q; want %s, %q, error %q", c.src, r.Value, note, msg, c.value, c.note, c.err)
		}
	}
}

// TestAutomaticImportStays checks that later cells see an automatic import like any other.
func TestAutomaticImportStays(t *testing.T) {
	in := completing(t)
	note := stderrOf(t, func() { mustEval(t, in, "sort.Ints(a)") })
	if note != "note: imported \"sort\"\n" {
		t.Errorf("the first use notes %q", note)
	}
	note = stderrOf(t, func() { mustEval(t, in, "sort.Ints(a)") })
	if note != "" {
		t.Errorf("the second use notes %q", note)
	}
}

// stderrOf returns the text that f writes to standard error.
func stderrOf(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	was := os.Stderr
	os.Stderr = w
	f()
	os.Stderr = was
	w.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
