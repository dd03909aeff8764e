package interp

import (
	"fmt"
	"testing"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem"
)

// TestHabits checks the messages for code written by people who know Python, PyTorch or CUDA C++.
func TestHabits(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, "var a, b *symm.Tensor; var k *symm.Kernel; xs := []int{1}; x, n := 1, 4; f := 0.5; var h *symm.Handle")
	for _, c := range []struct{ src, msg, hint string }{
		// Parts of tensors.
		{"a[0]", "cannot index a (variable of type *symm.Tensor)", "a.Slice(0, 1) is that part, and a.Float32s()[0] one element of a copy"},
		{"a[n]", "cannot index a (variable of type *symm.Tensor)", "a.Slice(n, n+1) is that part, and a.Float32s()[n] one element of a copy"},
		{"a[n<<1]", "cannot index a (variable of type *symm.Tensor)", "a.Slice(n << 1, n << 1+1) is that part, and a.Float32s()[n << 1] one element of a copy"},
		{"a[-1]", "cannot index a (variable of type *symm.Tensor)", "a.Slice(a.Shape()[0]-1, …) is a part that begins so far from the end"},
		{"a[0][1]", "cannot index a (variable of type *symm.Tensor)", "a.Slice(0, 1) is that part, and a.Float32s()[0] one element of a copy"},
		{"fmt.Println(1, a[x])", "cannot index a (variable of type *symm.Tensor)", "a.Slice(x, x+1) is that part, and a.Float32s()[x] one element of a copy"},
		{"a[0] = 3", "cannot index a (variable of type *symm.Tensor)", "a.Slice(0, 1).Fill(3) sets it"},
		{"a[0:4]", "cannot slice a (variable of type *symm.Tensor)", "a.Slice(0, 4) is that part"},
		{"a[:n]", "cannot slice a (variable of type *symm.Tensor)", "a.Slice(0, n) is that part"},
		{"a[n:]", "cannot slice a (variable of type *symm.Tensor)", "a.Slice(n, a.Shape()[0]) is that part"},
		{"a[0:4] = b", "cannot slice a (variable of type *symm.Tensor)", "a.Slice(0, 4).CopyFrom(…) sets it, and Fill to one value"},
		{"symm.Empty(symm.F32, 4)[0:2]", "cannot slice symm.Empty(symm.F32, 4) (value of type *symm.Tensor)",
			"symm.Empty(symm.F32, 4).Slice(0, 2) is that part"},
		{"f[0]", "cannot index f (variable of type float64)", ""},
		// Calculating with them.
		{"a + b", "invalid operation: operator + not defined on a (variable of type *symm.Tensor)", "a.Add(b) calculates it on the device"},
		{"2 * a", "invalid operation: 2 * a (mismatched types untyped int and *symm.Tensor)", "symm.Mul(2, a) calculates it on the device"},
		{"a * 2", "invalid operation: a * 2 (mismatched types *symm.Tensor and untyped int)", "a.Mul(2) calculates it on the device"},
		{"a | b", "invalid operation: operator | not defined on a (variable of type *symm.Tensor)", "symm.Map(\"x0 | x1\", a, b) calculates it on the device"},
		{"^a", "invalid operation: operator ^ not defined on a (variable of type *symm.Tensor)", "symm.Map(\"~x0\", a) calculates it on the device"},
		{"a ** 2", "invalid operation: cannot indirect 2 (untyped int constant)", "a.Pow(2) is a power"},
		{"-a", "invalid operation: operator - not defined on a (variable of type *symm.Tensor)", "a.Neg() calculates it on the device"},
		{"a += b", "invalid operation: operator + not defined on a (variable of type *symm.Tensor)", "a.Add(b, symm.Into(a)) calculates it in place"},
		{"a < b", "invalid operation: a < b (operator < not defined on pointer)", "a.Lt(b) calculates it on the device"},
		{"a == 2", "invalid operation: a == 2 (mismatched types *symm.Tensor and untyped int)", "a.Eq(2) calculates it on the device"},
		{"a = 3", "cannot use 3 (untyped int constant) as *symm.Tensor value in assignment", "a.Fill(3) sets all elements"},
		{"len(a)", "invalid argument: a (variable of type *symm.Tensor) for built-in len",
			"a.Numel() is the number of elements, a.Shape() the size of each dimension"},
		{"max(a, b)", "invalid argument: a (variable of type *symm.Tensor) cannot be ordered", "a.Maximum(b) calculates it on the device"},
		{"math.Sqrt(a)", "cannot use a (variable of type *symm.Tensor) as float64 value in argument to math.Sqrt", "a.Sqrt() calculates it on the device"},
		{"math.Tanh(a)", "cannot use a (variable of type *symm.Tensor) as float64 value in argument to math.Tanh",
			"symm.Map(\"tanh(x0)\", a) calculates it on the device, if a formula has that function"},
		{"float64(a)", "cannot convert a (variable of type *symm.Tensor) to type float64", "a.Float32s()[0] is the first element of a copy"},
		{"for range a { }", "cannot range over a (variable of type *symm.Tensor)", "a.Float32s() is a copy of the elements, a.Ints() one of integers"},
		{"strings.Repeat(a, 2)", "cannot use a (variable of type *symm.Tensor) as string value in argument to strings.Repeat", ""},
		{"f + x", "invalid operation: f + x (mismatched types float64 and int)", "convert one of them, by float64(…) or int(…)"},
		// Element types.
		{"symm.Empty(4096)", "cannot use 4096 (untyped int constant) as symm.DType value in argument to symm.Empty (overflows)",
			"the element type comes first: symm.Empty(symm.F32, 4096)"},
		{"symm.Local(n, 2)", "cannot use n (variable of type int) as symm.DType value in argument to symm.Local",
			"the element type comes first: symm.Local(symm.F32, n, 2)"},
		{"symm.Empty(4, symm.BF16)", fmt.Sprintf("cannot use symm.BF16 (constant %d of uint8 type symm.DType) as int value in argument to symm.Empty", uint8(symmem.BF16)),
			"the element type comes first: symm.Empty(symm.BF16, 4)"},
		{"symm.Empty(xs)", "cannot use xs (variable of type []int) as symm.DType value in argument to symm.Empty",
			"the element type comes first: symm.Empty(symm.F32, xs...)"},
		{"symm.Empty(symm.F32, xs)", "cannot use xs (variable of type []int) as int value in argument to symm.Empty", "xs... gives its elements"},
		{"symm.Empty(\"float32\", 4)", "cannot use \"float32\" (untyped string constant) as symm.DType value in argument to symm.Empty", "did you mean symm.F32?"},
		{"symm.Empty(\"half\", 4)", "cannot use \"half\" (untyped string constant) as symm.DType value in argument to symm.Empty", "did you mean symm.F16?"},
		{"symm.Empty(\"bfloat16\", 4)", "cannot use \"bfloat16\" (untyped string constant) as symm.DType value in argument to symm.Empty", "did you mean symm.BF16?"},
		{"symm.Empty(\"x\", 4)", "cannot use \"x\" (untyped string constant) as symm.DType value in argument to symm.Empty",
			"the element type comes first: symm.Empty(symm.F32, \"x\", 4)"},
		{"symm.Empty(float64, 4)", "float64 (type) is not an expression", "did you mean symm.F64?"},
		{"symm.Empty(torch.int32, 4)", "undefined: torch", "did you mean symm.I32?"},
		{"symm.Empty(F32, 4)", "undefined: F32", "did you mean symm.F32?"},
		{"a.As(\"int64\")", "cannot use \"int64\" (untyped string constant) as symm.DType value in argument to a.As", "did you mean symm.I64?"},
		{"a.As(n)", "cannot use n (variable of type int) as symm.DType value in argument to a.As", "an element type is one such as symm.F32"},
		// Modules of Python.
		{"dist.all_reduce(a)", "undefined: dist", "did you mean symm.AllReduce(a, \"sum\")?"},
		{"torch.distributed.all_reduce(a)", "undefined: torch", "did you mean symm.AllReduce(a, \"sum\")?"},
		{"dist.all_gather_into_tensor(a, b)", "undefined: dist", "did you mean symm.AllGather(a)?"},
		{"dist.broadcast(a, 0)", "undefined: dist", "did you mean symm.Broadcast(a, 0)?"},
		{"dist.get_rank() + 1", "undefined: dist", "did you mean symm.Rank()?"},
		{"torch.zeros(4, 2)", "undefined: torch", "did you mean symm.Empty(symm.F32, 4, 2)?"},
		{"symm_mem.rendezvous(a)", "undefined: symm_mem", "did you mean symm.Rendezvous(a)?"},
		{"torch.cuda.synchronize()", "undefined: torch", "did you mean symm.Synchronize()?"},
		{"torch.nn.Linear(4, 4)", "undefined: torch", "cells are Go, and their tensors are those of package symm: symm? lists what it has"},
		{"symm.all_reduce(a)", "undefined: symm.all_reduce", "did you mean symm.AllReduce?"},
		{"all_reduce(a)", "undefined: all_reduce", "did you mean symm.AllReduce?"},
		{"None", "undefined: None", "did you mean nil?"},
		// Statements of Python.
		{"for i in range(10):\n  print(i)", "expected '{', found in", "Go's loops have no in: for i := range 10 { … }"},
		{"for i in range(2, n):\n  print(i)", "expected '{', found in", "Go's loops have no in: for i := 2; i < n; i++ { … }"},
		{"for i in range(0, n, 2):", "expected '{', found in", "Go's loops have no in: for i := 0; i < n; i += 2 { … }"},
		{"for x in xs:\n  print(x)", "expected '{', found in", "Go's loops have no in: for _, x := range xs { … }"},
		{"for i, x in enumerate(xs):\n  print(x)", "expected 1 expression", "Go's loops have no in: for i, x := range xs { … }"},
		{"if x > 1:\n  x = 2", "illegal label declaration", "braces surround the statements of a condition: if x > 1 { … } else { … }"},
		{"while x < 3:\n  x += 1", "expected ';', found x", "Go's loops all begin with for: for x < 3 { … }"},
		{"def g(x):\n  return x", "expected ';', found g", "functions begin with func and say their types: func g(x float64) float64 { … }"},
		{"import torch", "missing import path", "cells are Go: package symm has tensors and communication between ranks, and is imported; symm? lists it"},
		{"import sort", "missing import path", "the path is in quotes: import \"sort\""},
		{"# a comment", "illegal character U+0023 '#'", "comments begin with //"},
		{"x == 1 and n == 2", "expected ';', found and", "&& is and, || is or, == compares"},
		{"x and n", "expected ';', found and", "&& is and, || is or, == compares"},
		{"x ** 2", "invalid operation: cannot indirect 2 (untyped int constant)", "math.Pow(x, 2) is a power"},
		{"a @ b", "illegal character U+0040 '@'", "MatMul multiplies: symm.MatMul(out, a, b)"},
		// CUDA C++.
		{"k<<<1, 4>>>(a, 2.0)", "expected operand, found '<'", "k.Launch(symm.Grid(1), symm.Block(4), a, 2.0) launches a kernel"},
		{"k<<<dim3(2, 2), dim3(8, 8), 64, s>>>(a);", "expected operand, found '<'",
			"k.Launch(symm.Grid(2, 2), symm.Block(8, 8), symm.SharedBytes(64), s, a) launches a kernel"},
		{"k<<<(n+255)/256, 256>>>()", "expected operand, found '<'", "k.Launch(symm.Grid((n+255)/256), symm.Block(256)) launches a kernel"},
		{"k<<<1,\n4>>>(a)", "expected operand, found '<'", "k.Launch(symm.Grid(1), symm.Block(256), …) launches a kernel"},
		{"__global__ void k(float* x) {}", "expected ';', found void", "code for the device is a text: k := symm.Compile(`…`)"},
	} {
		e := evaluate(in, session.Cell{ID: 1, Source: c.src}).Err
		if e == nil {
			e = &session.Error{Msg: "nothing"}
		}
		if e.Msg != c.msg || e.Hint != c.hint {
			t.Errorf("%q: %q with the hint\n%q, want %q with\n%q", c.src, e.Msg, e.Hint, c.msg, c.hint)
		}
	}
}

// A cell that compiles but does something else than it seems to is evaluated, with a remark.
func TestNotes(t *testing.T) {
	for _, c := range []struct{ src, note string }{
		{"a == b", "note: a == b asks whether both are one tensor; a.Equal(b) compares elements\n"},
		{"func same() bool { return a != b }", "note: a != b asks whether both are one tensor; a.Equal(b) compares elements\n"},
		{"a == nil", ""},
		{"symm.World == nil", ""},
		{"print(1, a)", "note: print(1, a) prints an address; fmt.Println(a) prints the elements\n10x0"},
		{"func print(x any) {}\nprint(a)", ""},
	} {
		in := open(t, Options{})
		mustEval(t, in, "var a, b *symm.Tensor")
		var r session.Result
		note := stderrOf(t, func() { r = evaluate(in, session.Cell{ID: 1, Source: c.src}) })
		if r.Err != nil || note != c.note {
			t.Errorf("%q: %q (%v), want %q", c.src, note, r.Err, c.note)
		}
	}
}

// A hint at a team of the world calls it as the session can.
func TestGroupCalled(t *testing.T) {
	const hint = "use the ranks of this host, which are 0,1: g.LSA(), or g.Rail()"
	for _, c := range []struct{ cell, want string }{
		{"", "use the ranks of this host, which are 0,1: symm.LSA(), or symm.Rail()"},
		{"g := 1", "use the ranks of this host, which are 0,1: symm.LSA(), or symm.Rail()"},
		{"var g *symm.Group", hint},
	} {
		in := open(t, Options{})
		mustEval(t, in, c.cell)
		if got := in.help.GroupCalled(hint); got != c.want {
			t.Errorf("after %q: %q, want %q", c.cell, got, c.want)
		}
	}
}
