package interp

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/internal/values"
)

// Types of compiled code with the properties that a session meets. Cells use the package name of
// the table, other code that of this package.
type (
	// handle has one unexported field, like the checker's stand-in for it.
	handle struct{ peers map[int]*handle }
	// Mixed has exported fields and an unexported one.
	Mixed struct {
		Name  string
		Index map[string]int
		Next  *Mixed
		Sub   Open
		Inner handle
		Held  any
		lock  chan int
	}
	// Open has only exported fields.
	Open struct {
		A int
		M map[string]int
	}
	// Loud panics when it describes itself.
	Loud struct{}
	// Nilable describes itself even if it is nil.
	Nilable struct{ n int }
)

func (Loud) String() string       { panic("too loud") }
func (n *Nilable) String() string { return string(rune('a' + n.n)) }

func newMixed() Mixed {
	index := map[string]int{"k": 1}
	return Mixed{Name: "m", Index: index, Next: &Mixed{}, Sub: Open{2, index}, Held: &Open{}, lock: make(chan int)}
}

// TestCompiledValues checks that values of compiled code are shown without reading unexported
// fields.
func TestCompiledValues(t *testing.T) {
	in := open(t, Options{
		Packages: Exports{"test/values/values": {
			"Handle": reflect.ValueOf((*handle)(nil)), "Mixed": reflect.ValueOf((*Mixed)(nil)), "Open": reflect.ValueOf((*Open)(nil)),
			"Loud": reflect.ValueOf((*Loud)(nil)), "Nilable": reflect.ValueOf((*Nilable)(nil)),
			"NewMixed":  reflect.ValueOf(newMixed),
			"NewHandle": reflect.ValueOf(func() *handle { return &handle{map[int]*handle{1: nil}} }),
		}},
		Names: map[string]string{"values": "test/values"},
	})
	mustEval(t, in, "import (\n\"sync\"\n\"sync/atomic\"\n\"regexp\"\n\"math/big\"\n\"net/http\"\n\"bytes\"\n)\n"+
		"type Own struct { mu sync.Mutex; r *strings.Reader; n int }\ntype D time.Duration\n"+
		"type Shouter struct { n int }\nfunc (s Shouter) String() string { panic(\"own\") }")
	const open = `Open{A: 1, M: map[string]int{"k": 2}}`
	for _, c := range []struct{ expr, want string }{
		{"time.Unix(0, 0).UTC()", "1970-01-01 00:00:00 +0000 UTC"},
		{"strings.NewReader(\"x\")", "(*strings.Reader)(0x…)"},
		{"*strings.NewReader(\"x\")", "strings.Reader{…}"},
		{"&sync.Mutex{}", "(*sync.Mutex)(0x…)"},
		{"sync.Mutex{}", "sync.Mutex{…}"},
		{"&atomic.Int64{}", "(*atomic.Int64)(0x…)"},
		{"regexp.MustCompile(\"a\")", "a"},
		{"big.NewInt(3)", "3"},
		{"bytes.NewBufferString(\"b\")", "b"},
		{"http.DefaultClient", "(*http.Client)(0x…)"},
		{"http.Client{}", "http.Client{Transport: nil, CheckRedirect: (func(*http.Request, []*http.Request) error)(nil), Jar: nil, Timeout: 0s}"},
		{"http.Header{\"A\": {\"b\"}}", `http.Header{"A": []string{"b"}}`},
		{"values.NewHandle()", "(*interp.handle)(0x…)"},
		{"*values.NewHandle()", "interp.handle{…}"},
		{"values.NewMixed()", `interp.Mixed{Name: "m", Index: map[string]int{…}, Next: (*interp.Mixed)(0x…), ` +
			`Sub: interp.Open{A: 2, M: map[string]int{…}}, Inner: interp.handle{…}, Held: (*interp.Open)(0x…), …}`},
		{"values.Open{1, map[string]int{\"k\": 2}}", "values." + open},
		{"values.Loud{}", "<String method panicked: too loud>"},
		{"(*values.Nilable)(nil)", "(*values.Nilable)(nil)"},
		{"&values.Nilable{}", "a"},
		{"(*strings.Reader)(nil)", "(*strings.Reader)(nil)"},
		{"Own{n: 1, r: strings.NewReader(\"x\")}", "Own{mu: sync.Mutex{…}, r: (*strings.Reader)(0x…), n: 1}"},
		{"&Own{n: 1}", "&Own{mu: sync.Mutex{…}, r: (*strings.Reader)(nil), n: 1}"},
		{"D(5)", "D(5)"},
		{"complex64(0.1)", "(0.1+0i)"},
		{"[]any{big.NewInt(3), strings.NewReader(\"x\"), sync.Mutex{}, values.Loud{}, (*values.Nilable)(nil), nil}",
			"[]any{3, (*strings.Reader)(0x…), sync.Mutex{…}, <String method panicked: too loud>, (*interp.Nilable)(nil), nil}"},
		{"[]*sync.Mutex{{}, nil}", "[]*sync.Mutex{(*sync.Mutex)(0x…), (*sync.Mutex)(nil)}"},
		{"map[string]*values.Handle{\"h\": values.NewHandle()}", `map[string]*values.Handle{"h": (*values.Handle)(0x…)}`},
		{"any(values.NewHandle())", "(*interp.handle)(0x…)"},
		{"any(values.Open{1, map[string]int{\"k\": 2}})", "interp." + open},
	} {
		if got := mustEval(t, in, c.expr); got != (values.Printed{Text: c.want}).Break(values.Width) {
			t.Errorf("%s is shown as\n%s, want\n%s", c.expr, got, values.Printed{Text: c.want}.Break(values.Width))
		}
		mustEval(t, in, "v := "+c.expr)
		vars := in.vars()
		want := []rune(c.want)
		if len(want) > maxShown {
			want = append(want[:maxShown-1], '…')
		}
		if len(vars) != 1 || vars[0].Value != string(want) {
			t.Errorf("%s is listed as %+v, want %q", c.expr, vars, string(want))
		}
	}
	if got := mustEval(t, in, "Shouter{1}"); got != "<String method panicked: own>" {
		t.Errorf("a String method of a cell that panics is shown as %s", got)
	}
}

// TestWordsUnbroken checks that long texts by which values describe themselves are not broken,
// neither alone nor in other values.
func TestWordsUnbroken(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, `type Place struct{ Err error }`)
	text := "a, b, {c, d}, (e, " + strings.Repeat("x", 100)
	mustEval(t, in, fmt.Sprintf("err := errors.New(%q)", text))
	for expr, want := range map[string]string{
		"err":   text,
		"*&err": text,
		"regexp.MustCompile(\"a{1, 2}" + strings.Repeat("x", 100) + "\")": "a{1, 2}" + strings.Repeat("x", 100),
		"Place{err}":    "Place{\n\tErr: " + text + ",\n}",
		"[]any{err, 1}": "[]any{\n\t" + text + ",\n\t1,\n}",
	} {
		if got := mustEval(t, in, expr); got != want {
			t.Errorf("%s is shown as\n%s, want\n%s", expr, got, want)
		}
	}
}

// TestPrinterPanics checks that a value that does not match the checker's type ends the text, not
// the process.
func TestPrinterPanics(t *testing.T) {
	in := open(t, Options{})
	if got := in.print(reflect.ValueOf(5), in.checker.Packages().TypeOf(reflect.TypeFor[[]int]())).Text; got != "[]int(…)" {
		t.Errorf("a number that should be a slice is shown as %s", got)
	}
	if got := in.printed(valueTypes{in: in}, func(p *printer) { p.Text("[1, "); panic("torn") }).Text; got != "[1, <printing panicked: torn>" {
		t.Errorf("a printer that panics writes %s", got)
	}
}

// TestValues checks how values of cells' types are shown.
func TestValues(t *testing.T) {
	in := completing(t)
	mustEval(t, in, "type node struct { name string; next *node; all []*node; held any }\ntype celsius float64\ntype pair[K comparable, V any] struct { Key K; Val V }\n"+
		"type fault struct { code int }\nfunc (f fault) Error() string { return fmt.Sprint(\"code \", f.code) }\nfunc ring() *node { n := &node{name: \"a\"}; n.next = &node{name: \"b\", next: n}; return n }")
	mustEval(t, in, "self := &node{name: \"s\"}\nself.all = []*node{self, nil}\nself.held = self\npp := &self")
	for _, c := range []struct{ expr, want string }{
		{"ring()", `&node{
	name: "a",
	next: &node{name: "b", next: (*node)(…), all: []*node(nil), held: nil},
	all: []*node(nil),
	held: nil,
}`},
		{"self", `&node{name: "s", next: (*node)(nil), all: []*node{(*node)(…), (*node)(nil)}, held: (*node)(…)}`},
		{"[]*node{nil, nil}", "[]*node{(*node)(nil), (*node)(nil)}"},
		{"shared := &P{1, \"\"}\n[]*P{shared, shared}", `[]*P{&P{Xs: 1, y: ""}, &P{Xs: 1, y: ""}}`},
		{"map[string]int{\"b\": 2, \"a\": 1, \"c\": 3}", `map[string]int{"a": 1, "b": 2, "c": 3}`},
		{"map[int][]string{10: {\"x\"}, 9: nil}", `map[int][]string{9: []string(nil), 10: []string{"x"}}`},
		{"map[any]int{2: 1, \"s\": 2, 1: 3}", `map[any]int{1: 3, 2: 1, "s": 2}`},
		{"[]byte(\"hi\")", "[]byte{104, 105}"},
		{"celsius(36.6)", "celsius(36.6)"},
		{"[]celsius{1, 2.5}", "[]celsius{celsius(1), celsius(2.5)}"},
		{"complex(1, -2)", "(1-2i)"},
		{"[2][2]int{{1, 2}, {3, 4}}", "[2][2]int{[2]int{1, 2}, [2]int{3, 4}}"},
		{"pair[string, int]{\"k\", 1}", `pair[string, int]{Key: "k", Val: 1}`},
		{"errors.New(\"went wrong\")", "went wrong"},
		{"fmt.Errorf(\"outer: %w\", errors.New(\"inner\"))", "outer: inner"},
		{"time.Duration(1500) * time.Millisecond", "1.5s"},
		{"time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)", "2020-01-02 03:04:05 +0000 UTC"},
		{"'x'", "120"},
		{"struct{ A int; B *int }{1, nil}", "struct{A int; B *int}{A: 1, B: (*int)(nil)}"},
		{"math.Inf(-1)", "-Inf"},
		{"uint8(200)", "200"},
		{"\"tab\\t\\\"quote\\\"\"", `"tab\t\"quote\""`},
		{"\"line\\n\"", `"line\n"`},
		{"\"lines\\n\\tof text\\n\"", "`lines\n\tof text\n`"},
		{"\"lines\\n`quoted`\"", "\"lines\\n`quoted`\""},
		{"[]string{\"lines\\nin others\"}", `[]string{"lines\nin others"}`},
	} {
		if got := mustEval(t, in, c.expr); got != c.want {
			t.Errorf("%s is shown as\n%s\nwant\n%s", c.expr, got, c.want)
		}
	}
}
