package interp

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/docs"
	"github.com/symmrepl/symmrepl/session"
)

// TestForeignNames types each public name of other libraries in a cell, and checks that the error says
// what it is here, or why it is not: names that the hint mentions exist.
func TestForeignNames(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, "var x *symm.Tensor\nvar h *symm.Handle")
	for file, forms := range map[string][]string{
		"torch.txt": {"NAME(1)", "symm_mem.NAME(1)", "torch.ops.symm_mem.NAME(1)"}, "nccl.txt": {"NAME", "NAME(1, 2)"}, "nvshmem.txt": {"NAME()", "symm.NAME()"},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", "foreign", file))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			name := strings.NewReplacer("TYPE", "float", "SIZE", "32").Replace(strings.TrimSpace(line))
			if strings.HasPrefix(name, "#") {
				continue
			}
			for _, form := range forms {
				cell := strings.ReplaceAll(form, "NAME", name)
				e := evaluate(in, session.Cell{Source: cell}).Err
				if e == nil {
					t.Errorf("%s runs", cell)
					continue
				}
				if e.Hint == "" || strings.HasPrefix(e.Hint, "cells are Go") {
					t.Errorf("%s: %s, with the hint %q", cell, e.Msg, e.Hint)
				}
				checkMentioned(t, cell, e.Hint)
			}
		}
	}
}

// TestForeignTable checks that all rows of the page of operations are in the table of other libraries'
// names, and that what the table mentions exists.
func TestForeignTable(t *testing.T) {
	table, err := os.ReadFile(filepath.Join("help", "foreign.txt"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for line := range strings.Lines(string(table)) {
		names, says, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		if !ok || says == "" {
			t.Errorf("the row %q has no hint", line)
		}
		for _, name := range strings.Fields(names) {
			if rows[name] {
				t.Errorf("%s has two rows", name)
			}
			rows[name] = true
		}
		checkMentioned(t, names, says)
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "ops.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## From PyTorch, name by name\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?`) \\|").FindAllStringSubmatch(section, -1) {
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			if name := strings.TrimPrefix(name[1], "handle."); !rows[name] {
				t.Errorf("%s of docs/ops.md has no row", name)
			}
		}
	}
}

// mentioned matches functions and methods of symmem in a hint.
var mentioned = regexp.MustCompile(`\b(symm|h|t|x|k)\.([A-Z]\w*)`)

// checkMentioned checks that what a hint mentions exists.
func checkMentioned(t *testing.T, of, hint string) {
	t.Helper()
	for _, m := range mentioned.FindAllStringSubmatch(hint, -1) {
		name := map[string]string{"symm": "", "h": "Handle.", "t": "Tensor.", "x": "Tensor.", "k": "Kernel."}[m[1]] + m[2]
		if _, _, ok := docs.Lookup(check.SymmemPath, name); !ok {
			t.Errorf("the hint of %s mentions %s, which does not exist: %s", of, m[0], hint)
		}
	}
}

// TestForeignHabits checks hints for code of other libraries that is no name alone.
func TestForeignHabits(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, "var x *symm.Tensor")
	for cell, want := range map[string]string{
		"relu(x)":                           `x.Maximum(0), and symm.Map("max(x0, 0)", x), calculate it`,
		"x.relu()":                          `x.Maximum(0), and symm.Map("max(x0, 0)", x), calculate it`,
		"symm.Relu(x)":                      `x.Maximum(0), and symm.Map("max(x0, 0)", x), calculate it`,
		"x.tolist()":                        "t.Float32s(), t.Float64s() or t.Ints()",
		"y := x @ x":                        "MatMul multiplies: symm.MatMul(out, a, b)",
		"symm.World().Barrier()":            "h.Barrier(0), with h := symm.Rendezvous(t), is a barrier of the group",
		"symm.Barrier()":                    "h.Barrier(0), with h := symm.Rendezvous(t), is a barrier of the group",
		"symm.Rand(4)":                      "t.Rand(seed) and t.Normal(seed) fill a tensor",
		`symm.Rendezvous(x, "tp")`:          `symm.GroupNamed("tp") is the group of that name, which symm.NewNamedGroup makes`,
		`symm_mem.set_backend("NCCL")`:      `did you mean symm.SetBackend("NCCL")?`,
		"dist.all_reduce(x, async_op=True)": "symm.Async(func() { … }) issues a collective beside the rank's work, and Wait of its result waits for it",
		"@triton.jit":                       "kernels are CUDA C++, the text of symm.Compile; one that Triton has compiled is loaded by symm.LoadKernel",
		"model.set_symm_mem_for_comm()":     "nothing is needed: symm.Empty gives the tensors of collectives symmetric memory",
		"set_symm_mem_for_comm()":           "nothing is needed: symm.Empty gives the tensors of collectives symmetric memory",
		"nccl_put_with_signal(x)":           "h.PutWithSignal, with h := symm.Rendezvous(t)",
		"ncclBarier()":                      "did you mean ncclBarrier?",
	} {
		if e := evaluate(in, session.Cell{Source: cell}).Err; e == nil || e.Hint != want {
			t.Errorf("%s fails with %v, want the hint %q", cell, e, want)
		}
	}
}
