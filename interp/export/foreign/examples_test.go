package foreign

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

var update = flag.Bool("update", false, "write testdata/*.py anew")

// cellsOf cuts a file of testdata into its cells.
func cellsOf(t *testing.T, name string) (cells []session.Cell) {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range strings.Split(string(content), "// %%")[1:] {
		head, source, _ := strings.Cut(part, "\n")
		cell := session.Cell{ID: i + 1, Source: source}
		if ranks, ok := strings.CutPrefix(head, "rank "); ok {
			if cell.Ranks, err = session.ParseRanks(ranks, 4); err != nil {
				t.Fatal(err)
			}
		}
		cells = append(cells, cell)
	}
	return cells
}

// nothing compiles kernels to names.
var nothing = Compiler{
	Cubin: func(name, text, arch string, instances ...string) ([]byte, error) {
		return []byte(name + " for " + arch), nil
	},
	Unit:  func(name, text string, instances ...string) (string, error) { return "// " + name, nil },
	Flags: func() string { return "-flags" },
	Arch:  "sm_90",
}

// TestExamples compares the programs of whole sessions, in Python and C++.
func TestExamples(t *testing.T) {
	for _, name := range []string{"all_reduce", "ring", "reduce_scatter", "constructs", "nccl"} {
		cells := cellsOf(t, filepath.Join("testdata", name+".cells"))
		python, err := Python(name+".py", cells, 4)
		if err != nil {
			t.Fatal(err)
		}
		cpp, err := Cpp(cells, 4, nothing)
		if err != nil {
			t.Fatal(err)
		}
		for golden, got := range map[string][]byte{name + ".py": python[name+".py"], name + ".cpp": cpp["main.cpp"]} {
			golden = filepath.Join("testdata", golden)
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
				t.Errorf("%s is\n%s", golden, got)
			}
		}
	}
}

// A kernel of a file, or one that includes nvshmem.h, is not carried over, nor what launches it;
// the program says how it gets one.
func TestNotCarriedOver(t *testing.T) {
	for kernel, why := range map[string]string{
		`symm.LoadKernel("k.cubin", "scale", symm.Params("ptr", "i32"))`:                                  "the kernel is in a file, which a program loads by cuModuleLoad",
		"symm.Compile(`\n#include <nvshmem.h>\n__global__ void f(float* x, int n) { nvshmem_quiet(); }`)": "the text includes nvshmem.h, whose functions need the session's table of tensors",
	} {
		cells := []session.Cell{{ID: 1, Source: "k := " + kernel + "\n" + `x := symm.Local(symm.F32, 8)` + "\n" + `k.Launch(symm.Grid(1), symm.Block(32), x, 8)`}}
		python, err := Python("k.py", cells, 2)
		if err != nil {
			t.Fatal(err)
		}
		cpp, err := Cpp(cells, 2, nothing)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{string(python["k.py"]), string(cpp["main.cpp"])} {
			for _, want := range []string{"Not carried over, because " + why, "because k of cell 1 is not carried over"} {
				if !strings.Contains(text, want) {
					t.Errorf("the program lacks %q:\n%s", want, text)
				}
			}
		}
	}
}

// A type that contains itself has no name in C++.
func TestTypeInItself(t *testing.T) {
	cells := []session.Cell{{ID: 1, Source: "type state func() state"}, {ID: 2, Source: "var s state\nn := 1"}}
	cpp, err := Cpp(cells, 2, nothing)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"because the type main.state contains itself", "long n = 1;"} {
		if text := string(cpp["main.cpp"]); !strings.Contains(text, want) {
			t.Errorf("the program lacks %q:\n%s", want, text)
		}
	}
}
