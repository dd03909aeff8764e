package export

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

var update = flag.Bool("update", false, "write testdata/main.go.golden anew")

// numbered gives cells their numbers.
func numbered(cells ...session.Cell) []session.Cell {
	for i := range cells {
		cells[i].ID = i + 1
	}
	return cells
}

// TestProgram compares a whole program.
func TestProgram(t *testing.T) {
	got, err := Program(numbered(
		session.Cell{Source: "import \"os\"\n\n// rank is this one.\nrank, size := symm.Rank(), symm.WorldSize()\nvar host, _ = os.Hostname()\nvar none error\nvar (\n\ta int8 = 5\n\tb = a\n)"},
		session.Cell{Source: "// A point is\n// somewhere.\ntype point struct{ X, Y int } // the first\nfunc (p point) Sum() int { return p.X + p.Y }\nfunc double(x int) int { return 2 * x }; p := point{1, rank} // here"},
		session.Cell{Source: "p.Sum(), double(1)", Failed: "cell[3]:1:8: expected statement, found ','\nmore"},
		session.Cell{Source: "func double(x int) int { return x << 1 }\nfunc (p point) Sum() int { return -1 }\ndouble(p.Sum())", Ranks: []int{0, 2}},
		session.Cell{Source: "type point struct{ point2 []byte }\nlen := point{nil}\nlen"},
		session.Cell{Source: "[]byte(\"x\")"},
		session.Cell{Source: "any(rank)"},
		session.Cell{Source: "strings.Cut(\"a=b\", \"=\")"},
		session.Cell{Source: "func both() (any, error) { return size, nil }\nboth()"},
		session.Cell{Source: "var size int\nfor i := range size {\n\tvar j = i\n}\nif k := size; size > 0 {\n}\nswitch v := any(rank).(type) {\ncase int:\n}\nunused:\n\tsize++"},
		session.Cell{Source: "rank := \"other\"; z := 1\npanic(z)", Failed: "cell[11]:2:1: panic: 1"},
		session.Cell{Source: "z := 2\nz"},
		session.Cell{Source: "z;"},
		session.Cell{Source: "z, size; // none is shown"},
		session.Cell{Source: "both();"},
		session.Cell{Source: "nil;"},
		session.Cell{Source: "panic := 1; os := panic; os"},
		session.Cell{Folder: "/data"},
		session.Cell{Folder: "/nowhere", Failed: "chdir /nowhere: no such file or directory"},
	), 4)
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/main.go.golden"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("the program is\n%s", got)
	}
}

// TestRefusals checks that sessions that a program cannot reproduce are refused.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		cells []session.Cell
		want  string
	}{
		{[]session.Cell{{Source: "x := 1", Ranks: []int{1}}, {Source: "x"}},
			"cell 2: it uses x, which other ranks than rank 0 have defined (a program has the same variables on all ranks; define it on all)"},
		{[]session.Cell{{Source: "x := 1"}, {Source: "x := \"a\"", Ranks: []int{0}}, {Source: "x"}},
			"cell 3: it uses x, which other ranks than rank 1 have defined (a program has the same variables on all ranks; define it on all)"},
		{[]session.Cell{{Source: "x := 1; panic(x)", Failed: "panic: 1"}, {Source: "x"}},
			"cell 2: it uses x, which cell 1 defined before it failed (define it in a cell that does not fail)"},
		{[]session.Cell{{Source: "func f[T any](x T) T { return x }"}, {Source: "func f[T any](x T) T { var y T; return y }"}},
			"cell 2: the generic function f is defined again (a program cannot replace it in earlier callers; give it another name)"},
		{[]session.Cell{{Source: "import \"encoding/binary\"\norder := binary.LittleEndian"}},
			"cell 1: its type encoding/binary.littleEndian has a name that only its package can use (convert it to another, such as an interface)"},
		{[]session.Cell{{Source: "y"}},
			"cell 1: it does not check after the cells before it: cell[1]:1:1: undefined: y (ranks that were restarted may have had other names)"},
	} {
		if _, err := Program(numbered(c.cells...), 2); err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v\nwant %s", c.cells, err, c.want)
		}
	}
	for _, cells := range [][]session.Cell{
		{{Source: "x := 1", Ranks: []int{1}}, {Source: "x", Ranks: []int{1}}},
		{{Source: "x := 1"}, {Source: "x := 2", Ranks: []int{0}}, {Source: "x"}},
		{{Source: "x := 1; panic(x)", Failed: "panic: 1"}, {Source: "x := 2"}, {Source: "x"}},
		{{Source: "y", Failed: "undefined: y"}},
		{{Source: "fmt.Println(1)\npanic(2)", Failed: "panic: 2"}},
		nil,
	} {
		if _, err := Program(numbered(cells...), 2); err != nil {
			t.Errorf("%+v: %v", cells, err)
		}
	}
}

// TestModulePackages checks that a program in its own folder cannot import packages of the user's
// module, and that a file of that module can.
func TestModulePackages(t *testing.T) {
	t.Chdir("../testdata/module")
	cells := []session.Cell{{ID: 1, Source: "import \"example.com/shop/stock\"\nstock.Motto"}}
	_, err := Folder(cells, 1)
	if want := "it imports example.com/shop/stock, a package of your module, which stays there (write one file for that module, with :export FILE.go)"; err == nil || err.Error() != want {
		t.Errorf("a folder: %v, want %s", err, want)
	}
	text, err := Program(cells, 1)
	if err != nil || !strings.Contains(string(text), "\t\"example.com/shop/stock\"\n") {
		t.Errorf("a file: %s, %v", text, err)
	}
}
