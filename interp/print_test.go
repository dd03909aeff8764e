package interp

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// Types of compiled code as they come in a session. Cells call them by the table's package, others by this one.
type (
	// handle has one hidden field, as many as the checker's stand-in has.
	handle struct{ peers map[int]*handle }
	// Mixed has exported fields beside a hidden one.
	Mixed struct {
		Name  string
		Index map[string]int
		Next  *Mixed
		Sub   Open
		Inner handle
		Held  any
		lock  chan int
	}
	// Open hides nothing.
	Open struct {
		A int
		M map[string]int
	}
	// Loud cannot describe itself.
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

// TestCompiledValues holds that values of compiled code are shown without looking at what it hides.
func TestCompiledValues(t *testing.T) {
	in, err := New(Options{
		Packages: Exports{"test/values/values": {
			"Handle": reflect.ValueOf((*handle)(nil)), "Mixed": reflect.ValueOf((*Mixed)(nil)), "Open": reflect.ValueOf((*Open)(nil)),
			"Loud": reflect.ValueOf((*Loud)(nil)), "Nilable": reflect.ValueOf((*Nilable)(nil)),
			"NewMixed":  reflect.ValueOf(newMixed),
			"NewHandle": reflect.ValueOf(func() *handle { return &handle{map[int]*handle{1: nil}} }),
		}},
		Names: map[string]string{"values": "test/values"},
	})
	if err != nil {
		t.Fatal(err)
	}
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
		if got := mustEval(t, in, c.expr); got != c.want {
			t.Errorf("%s is shown as\n%s, want\n%s", c.expr, got, c.want)
		}
		mustEval(t, in, "v := "+c.expr)
		got, err := in.Inspect(context.Background(), session.TopicVars, "")
		if err != nil {
			t.Fatal(err)
		}
		want := []rune(c.want)
		if len(want) > maxShown {
			want = append(want[:maxShown-1], '…')
		}
		if fields := strings.Split(got, "\t"); len(fields) != 3 || fields[2] != string(want) {
			t.Errorf("%s is listed as %q, want %q", c.expr, got, string(want))
		}
	}
	if got := mustEval(t, in, "Shouter{1}"); got != "<String method panicked: own>" {
		t.Errorf("a String method of a cell that panics is shown as %s", got)
	}
}

// TestPrinterPanics holds that a value which is not what the checker says of it ends the text, not the process.
func TestPrinterPanics(t *testing.T) {
	in, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := in.print(reflect.ValueOf(5), in.pkgs.typeOf(reflect.TypeFor[[]int]())); got != "[]int(…)" {
		t.Errorf("a number that should be a slice is shown as %s", got)
	}
	if got := in.printed(func(p *printer) { p.write("[1, "); panic("torn") }); got != "[1, <printing panicked: torn>" {
		t.Errorf("a printer that panics writes %s", got)
	}
}
