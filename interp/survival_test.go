package interp

import (
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// TestMemoryOfValues checks that values of cells take at most the permitted memory, that the error
// says how much that is, and that the session goes on.
func TestMemoryOfValues(t *testing.T) {
	if !inOwnProcess(t) {
		return
	}
	in := open(t, Options{Memory: heap() + 256<<20})
	mustEval(t, in, "func grow() { for { x = append(x, make([]int, 1<<18)...) } }\nvar x []int")
	for _, c := range []struct{ src, prefix string }{
		{"grow()", "out of memory in grow: values take "},
		{"make([]byte, 1<<40)", "panic: out of memory: a value of 1048576 MB is made, and "},
		{"n := uint64(1 << 40)\nmake([]struct{ a, b int }, 0, n)", "panic: out of memory: a value of 16777216 MB is made, and "},
		{"make(chan int, 1<<32)", "panic: out of memory: a value of 32768 MB is made, and "},
		{"make(map[string]int, 1<<32)", "panic: out of memory: a value of 98304 MB is made, and "},
		{"strings.Repeat(\"ab\", 1<<38)", "panic: out of memory: a value of 524288 MB is made, and "},
		{"bytes.Repeat([]byte(\"ab\"), 1<<38)", "panic: out of memory: a value of 524288 MB is made, and "},
	} {
		e := evaluate(in, session.Cell{ID: 2, Source: c.src}).Err
		if e == nil || e.Kind != session.KindPanic || !strings.HasPrefix(e.Msg, c.prefix) || !strings.Contains(e.Msg, "values may take ") ||
			!strings.Contains(e.Hint, "GOMEMLIMIT=") || e.Line == 0 {
			t.Errorf("%s: got %#v", c.src, e)
		}
		if got := mustEval(t, in, "x = nil\n1 + 1"); got != "2" {
			t.Errorf("after %s: %s", c.src, got)
		}
	}
	// Garbage is no reason to stop.
	mustEval(t, in, "for range 50 { b := make([]byte, 80<<20); b[0] = 1 }\nfor range 400 { b := make([]byte, 8<<20); b[0] = 1 }")
}

// TestSizesOfMake checks that make accepts sizes of all types, and that its errors are worded as in
// Go.
func TestSizesOfMake(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, "type N uint8\nfunc of[T any](n N) []T { return make([]T, n, 2*n) }\nn := -1")
	for _, c := range []struct{ src, want string }{
		{"len(of[string](3))", "3"},
		{"len(make([]int, 1e3))", "1000"},
		{"len(make([]struct{}, 1<<40))", "1099511627776"},
		{"cap(make(chan<- int, len(of[int](4))))", "4"},
	} {
		if got := mustEval(t, in, c.src); got != c.want {
			t.Errorf("%s is %s", c.src, got)
		}
	}
	for _, src := range []string{"make([]int, n)", "make([]int, uint64(1) << 62)"} {
		if e := evaluate(in, session.Cell{ID: 2, Source: src}).Err; e == nil || e.Msg != "panic: runtime error: makeslice: len out of range" {
			t.Errorf("%s: got %v", src, e)
		}
	}
}

// TestRecursiveTypes checks that types that contain themselves either are refused or work, and
// never end the process.
func TestRecursiveTypes(t *testing.T) {
	for src, want := range map[string]string{
		"type P *P":                                     "",
		"type A []A":                                    "1: the type A contains itself ",
		"type A [2]*A":                                  "1: the type A contains itself ",
		"type A *[3]A":                                  "",
		"type T18 *[10]T19\ntype T19 T18":               "",
		"type A []B\ntype B []A":                        "1: the type A contains itself ",
		"type A map[string]B\ntype B *[3]A":             "",
		"type A func(B) int\ntype B func(A)":            "",
		"type A []struct{ x A }":                        "1: the type A contains itself ",
		"func f() { type Q *[3]Q }":                     "",
		"type B [2]*A\ntype A struct{ b B }":            "",
		"type A struct{ x []struct{ y map[string]A } }": "",
		"type A interface{ F([]A) A }":                  "",
	} {
		e := evaluate(open(t, Options{}), session.Cell{ID: 1, Source: src}).Err
		if want == "" && e == nil {
			continue
		}
		if e == nil || want == "" || e.Kind != session.KindUnsupported || !strings.HasPrefix(string(rune('0'+e.Line))+": "+e.Msg, want) {
			t.Errorf("%s: got %v", src, e)
		}
	}
}

// TestTypeOfDotImport checks that a type can be defined by one from a dot import, or from an
// earlier cell.
func TestTypeOfDotImport(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, "import . \"strings\"\ntype E struct{ n int }\ntype X Builder\nvar x X")
	mustEval(t, in, "type Y Builder\ntype F E\nvar y Y")
	if got := mustEval(t, in, "b := Builder(x); b.WriteString(\"a\"); _ = F{1}; b.String()"); got != `"a"` {
		t.Errorf("got %s", got)
	}
}

// TestLargeArrays checks that array types for which no machine has enough memory are refused
// wherever they occur, and others are not.
func TestLargeArrays(t *testing.T) {
	in := open(t, Options{})
	for _, src := range []string{"var a [1 << 40]byte", "p := new([1 << 42]int32)",
		"type T [1 << 38]struct{ a, b int }\nfunc f() (t T) { return }", "func g(x [1 << 40][1 << 20]int) {}"} {
		if e := evaluate(in, session.Cell{ID: 1, Source: src}).Err; e == nil || e.Kind != session.KindUnsupported ||
			!strings.HasPrefix(e.Msg, "an array of more than 64 GiB") {
			t.Errorf("%s: got %v", src, e)
		}
	}
	if got := mustEval(t, in, "var p *[1 << 30]int\nlen(p) + len([1 << 40]struct{}{})"); got != "1100585369600" {
		t.Errorf("got %s", got)
	}
}

// TestUnmappedMemory checks that a cell or its goroutine panics when it reads unmapped memory, and
// that the session goes on.
func TestUnmappedMemory(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, `import "syscall"
b, err := syscall.Mmap(-1, 0, syscall.Getpagesize(), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
if err == nil { err = syscall.Mprotect(b, syscall.PROT_NONE) }
done := make(chan int)`)
	const fault = "panic: runtime error: invalid memory address or nil pointer dereference"
	for _, c := range []struct{ src, want string }{
		{"fmt.Println(err, b[1])", fault},
		{"go func() { done <- int(b[1]) }()\n<-done", fault + " (in a goroutine)"},
	} {
		if e := evaluate(in, session.Cell{ID: 2, Source: c.src}).Err; e == nil || e.Kind != session.KindPanic || e.Msg != c.want {
			t.Errorf("%s: got %#v, want %s", c.src, e, c.want)
		}
		if got := mustEval(t, in, "len(b) > 0"); got != "true" {
			t.Errorf("after %s: %s", c.src, got)
		}
	}
}
