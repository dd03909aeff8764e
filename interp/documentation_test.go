package interp

import (
	"errors"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

func TestDocumentation(t *testing.T) {
	in := completing(t)
	mustEval(t, in, "// Twice doubles\n// a number.\nfunc Twice(n int) int { return 2 * n }\n\n// A counter counts.\ntype counter struct {\n\t// N is how many.\n\tN int\n}\n\n"+
		"// Up adds one.\nfunc (c *counter) Up() { c.N++ }\nconst (\n\t// low is the least.\n\tlow = 1\n\thigh = 9\n)\nfunc Same[T any](x T) T { return x }")
	mustEval(t, in, "c := &counter{}; var b strings.Builder; other := 1 // not a comment of anything\n")
	for _, c := range []struct{ name, want string }{
		{"Twice", "func Twice(n int) int\n\nTwice doubles\na number."},
		{"Twice()", "func Twice(n int) int\n\nTwice doubles\na number."},
		{"counter", "type counter struct {\n\t// N is how many.\n\tN int\n}\n\nA counter counts.\nfunc (*counter) Up()"},
		{"counter.Up", "func (c *counter) Up()\n\nUp adds one."},
		{"c.Up", "func (c *counter) Up()\n\nUp adds one."},
		{"c.N", "field N int"},
		{"c", "var c *counter\n\ntype counter struct {\n\t// N is how many.\n\tN int\n}\n\nA counter counts."},
		{"low", "const low = 1\n\nlow is the least."},
		{"high", "const high = 9"},
		{"Same", "func Same[T any](x T) T"},
		{"other", "var other int"},
		{"sort.Ints", "func Ints(x []int)\n\n…"},
		{"strings.Builder.Len", "func (b *Builder) Len() int\n\n…"},
		{"b.Len", "func (b *Builder) Len() int\n\n…"},
		{"slices.Sort", "func Sort[S ~[]E, E cmp.Ordered](x S)\n\n…"},
		{"math/bits", "package bits // import \"math/bits\"\n\n…"},
		{"bits", "package bits // import \"math/bits\"\n\n…"},
		{"symm.Empty", "func Empty(dtype DType, shape ...int) *Tensor\n\n…"},
		{"symm", "package symm // import symm \"github.com/symmrepl/symmrepl/symmem\"\n\n…"},
		{"symm.Kind", "type Kind string\n\n…"},
		{"AllGather", "func AllGather(t *Tensor, opts ...Option) *Tensor\n\n…"},
		{"all_gather", "func AllGather(t *Tensor, opts ...Option) *Tensor\n\n…"},
		{"Builder", "type Builder struct {…"},
		{"put_with_signal", "// symm/remote.cuh\nbool put_with_signal(const Handle& h, int dst, u64 offset, const void* src, u64 n, u32 i, u64 value);\n\nput_with_signal: the threads of a block put …"},
		{"symm::put()", "// symm/remote.cuh\ntemplate <class Team = Block> bool put(const Handle& h, int dst, u64 offset, …"},
		{"symm::Handle.pad", "// symm/handle.cuh\nstruct Handle : Context {\n…"},
		{"ncclGin", "// nccl/gin.h\n…"},
		{"__shfl_sync", "// built in\ntemplate <class T> T __shfl_sync(unsigned mask, T v, int source, int width = 32);\n…"},
		{"ncclDevCommCreate", "// nccl/missing.h\ntemplate <class... T> symm::NcclNothing ncclDevCommCreate(T...);\n\nncclDevCommCreate is called by the host: dc := symm.DevComm(…"},
		{"symm::", "namespace symm\n\n// symm/handle.cuh\nHandle  // Handle is one tensor, rendezvoused by a group, as returned by symm.Rendezvous\n\n// symm/team.cuh\n…"},
		{"one_shot_all_reduce", "func OneShotAllReduce(t *Tensor, op string, opts ...Option) *Tensor\n\n…"},
		{"torch.ops.symm_mem.two_shot_all_reduce_", "func TwoShotAllReduce(t *Tensor, op string, opts ...Option) *Tensor\n\n…"},
		{"symm_mem.rendezvous", "func Rendezvous(t *Tensor, opts ...Option) *Handle\n\n…"},
		{"symm_mem.put_signal", "func (h *Handle) PutSignal(dst, channel int, opts ...Option)\n\n…"},
		{"_SymmetricMemory.get_buffer", "func (h *Handle) GetBuffer(…"},
		{"torch.distributed.all_gather_into_tensor", "func AllGather(…"},
		{"ncclAllReduce", "func AllReduce(…"},
		{"ncclBcast", "func Broadcast(…"},
		{"nvshmem_my_pe", "// nvshmem/world.h\nint nvshmem_my_pe();\n\nnvshmem_my_pe returns …"},
		{"nvshmem_putmem_signal", "// nvshmem/rma.h\nvoid nvshmem_putmem_signal(void* dest, const void* source, size_t bytes, uint64_t* sig_addr, uint64_t signal, int sig_op, int pe);\n\nnvshmem_putmem_signal …"},
		{"len", "func len(v T) int\n\nelements of a slice, array, map or channel's buffer; bytes of a string"},
	} {
		got, err := in.help.Documentation(c.name, "")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if begin, ok := strings.CutSuffix(c.want, "…"); ok && strings.HasPrefix(got, begin) && len(got) > len(begin) {
			continue
		}
		if got != c.want {
			t.Errorf("%s is documented as %q, want %q", c.name, got, c.want)
		}
	}
	for _, name := range []string{"symm.Tensor", "strings.Builder", "b"} {
		if got, err := in.help.Documentation(name, ""); err != nil || !strings.Contains(got, "\n\nfunc (") {
			t.Errorf("%s is documented as %q, %v: without methods", name, got, err)
		}
	}
	for name, want := range map[string]string{
		"Twic":           "expression:1:1: undefined: Twic (did you mean Twice?)",
		"put_wth_signal": "expression:1:1: undefined: put_wth_signal (did you mean symm::put_with_signal?)",
		"symm::putt":     "nothing in the headers of kernels is called symm::putt (did you mean symm::put?)",
		"ncclBarier":     "expression:1:1: undefined: ncclBarier (did you mean ncclBarrier?)",
		"strings.Contan": "expression:1:9: undefined: strings.Contan (did you mean strings.Contains?)",
		"1 +":            "expression:1:4: expected operand, found the end of the cell",
		"1 + 2":          "there is no documentation of untyped int",
		"x := 1":         "that is no expression with a value",
	} {
		_, err := in.help.Documentation(name, "")
		if err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", name, err, want)
		}
		var e *session.Error
		if strings.HasPrefix(want, "expression") && !errors.As(err, &e) {
			t.Errorf("%s: the error has no place", name)
		}
	}
}

// TestMethods checks that a type is shown with its methods, each with a line about it.
func TestMethods(t *testing.T) {
	in := completing(t)
	got, err := in.help.Documentation("symm.Tensor", "")
	if err != nil || !strings.Contains(got, "\nfunc (t *Tensor) Fill(x any) *Tensor  // Fill sets every element") {
		t.Errorf("symm.Tensor is documented as %q, %v", got, err)
	}
	_, methods, _ := strings.Cut(got, "\n\nfunc (")
	for line := range strings.Lines(methods) {
		if !strings.Contains(line, "  // ") {
			t.Errorf("a method without a line about it: %s", line)
		}
	}
}

// TestDocumentationOfRedefined checks that documentation of a name shows its current definition.
func TestDocumentationOfRedefined(t *testing.T) {
	in := completing(t)
	for _, c := range []struct{ src, want string }{
		{"// One.\nfunc f() {}", "func f()\n\nOne."},
		{"// Two.\nfunc f(n int) {}", "func f(n int)\n\nTwo."},
		{"f := 1", "var f int"},
		{"type f int", "type f int"},
	} {
		mustEval(t, in, c.src)
		if got, err := in.help.Documentation("f", ""); got != c.want || err != nil {
			t.Errorf("after %q f is documented as %q, %v; want %q", c.src, got, err, c.want)
		}
	}
}

func TestTypes(t *testing.T) {
	in := completing(t)
	mustEval(t, in, "func Same[T any](x T) T { return x }")
	for _, c := range []struct{ expr, want string }{
		{"makeP(1)", "(P, error)"},
		{"P", "type P struct{Xs int; y string}\nfunc (P) Show() string\nfunc (*P) Set(n int)"},
		{"*P", "type *P"},
		{"strings", "package strings // import \"strings\""},
		{"symm", "package symm // import symm \"github.com/symmrepl/symmrepl/symmem\""},
		{"sort.Ints", "func([]int)"},
		{"sort.Ints(a)", "no value"},
		{"Same", "func[T any](x T) T"},
		{"Same[int]", "func(x int) int"},
		{"symm.Kind", "type symm.Kind string"},
		{"len", "func len(v T) int"},
		{" limit * 2 ", "untyped int constant 20"},
		{"b", "P"},
		{"nil", "untyped nil"},
	} {
		got, err := in.help.TypeOf(c.expr)
		if err != nil || got != c.want {
			t.Errorf("%s is %q, %v; want %q", c.expr, got, err, c.want)
		}
	}
	_, err := in.help.TypeOf("fmt.Printn")
	if want := "expression:1:5: undefined: fmt.Printn (did you mean fmt.Print or fmt.Printf or fmt.Println?)"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestSizes(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, "type node struct { next *node; data [4]int64 }")
	for _, c := range []struct {
		expr string
		want int64
	}{
		{"1", 8},
		{"int8(1)", 1},
		{`"four"`, 16 + 4},
		{"make([]float32, 10, 20)", 24 + 20*4},
		{"[]string{\"a\", \"bc\"}", 24 + 2*16 + 3},
		{"[3]int32{}", 12},
		{"map[int64]int64{1: 2, 3: 4}", 8 + 2*16},
		{"map[string]int64{\"abc\": 1}", 8 + 24 + 3},
		{"[][]byte{make([]byte, 100), nil}", 24 + 2*24 + 100},
		{"&node{}", 8 + 40},
		{"(*node)(nil)", 8},
		{"any(int64(5))", 16 + 8},
		{"strings.NewReader(\"x\")", 8},
		{"make([]string, 5000)", 24 + 5000*16},
	} {
		mustEval(t, in, "v := "+c.expr)
		if got := in.vars()[0].Size; got != c.want {
			t.Errorf("%s takes %d bytes, want %d", c.expr, got, c.want)
		}
	}
	mustEval(t, in, "ring := &node{}; ring.next = ring")
	if got := in.vars()[1].Size; got != 48 {
		t.Errorf("a ring takes %d bytes, want 48", got)
	}
}
