package symmemtest

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/symmem"
	"github.com/symmrepl/symmrepl/symmem/expect"
	"github.com/symmrepl/symmrepl/symmem/expect/formula"
)

// The kernels of the cases. None has a barrier: Symmetric, Equal and Close order them.
const expectKernels = `
	__global__ void sum(symm::Handle h, float* out, int n) {
		for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
			float s = 0;
			for (int p = 0; p < h.world_size; p++) s += h.buffer<float>(p)[i];
			out[i] = s;
		}
	}
	__global__ void put(float** peers, int rank, int size, int n) {  // into the second half of the next rank's
		for (int i = threadIdx.x; i < n; i += blockDim.x) peers[(rank + 1) % size][n + i] = peers[rank][i];
	}
	__global__ void clear(float* x, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = -1; }
	__global__ void mark(unsigned int** pads, int rank, int size) { pads[(rank + 1) % size][rank] = rank + 1; }
	__global__ void add(float* x, int at, float by) { x[at] += by; }`

// expectCase compares the results of kernels that read and write peers' memory and overwrite their
// input, without a barrier between them.
func expectCase(t *T) {
	k := symmem.Compile(expectKernels)
	const n = 1000
	ts := expect.New()
	x := ts.Symmetric("x", symmem.F32, "rank + i", n)
	ts.Local("out", symmem.F32, "", n)
	k.Launch(symmem.Grid(4), symmem.Block(64), ts.Handle("x"), ts.Tensor("out"), n)
	t.right(ts.Equal("out", "rank_sum(x)"))
	t.right(ts.Equal("x", "rank + i"))
	k.Kernel("clear").Launch(symmem.Grid(1), symmem.Block(64), x, n)
	t.right(ts.Equal("x", "-1"))
	t.right(ts.Equal("out", "rank_sum(x)")) // of what x held first
	t.right(ts.Close("out", "rank_sum(on(0, x)) + sum(k, 0, size, k)", 0, 0))
	if t.size > 1 && len(symmem.Caps().Hosts) == 1 {
		ts.Symmetric("y", symmem.F32, "where(i < n/2, on((rank + 1) % size, x), 0)", 2*n)
		k.Kernel("put").Launch(symmem.Grid(1), symmem.Block(64), ts.Peers("y"), t.rank, t.size, n)
		t.right(ts.Equal("y", "where(i < n/2, y, on((rank - 1 + size) % size, y[max(i - n/2, 0)]))"))
		k.Kernel("mark").Launch(symmem.Grid(1), symmem.Block(1), ts.Pads("y"), t.rank, t.size)
		symmem.Meet()
		before := (t.rank - 1 + t.size) % t.size
		t.equal("pad", ts.Pad("y").Ints()[before], before+1)
	}
	ts.Free()
	ts.Free()
	t.refused(symmem.KindMisuse, func() { ts.Tensor("x") }, "expect.Tensor", "the set was freed")
}

// right reports a comparison that has failed.
func (t *T) right(err error) {
	if err != nil {
		t.Errorf("%v%s", err, where())
	}
}

// expectTypesCase makes tensors of all types with values that their formulas round, and reads them
// again.
func expectTypesCase(t *T) {
	ts := expect.New()
	for _, d := range everyType {
		fill := d.String() + "(hash(i + n*rank))"
		ts.Symmetric("s"+d.String(), d, fill, 3, 5)
		ts.Local("l"+d.String(), d, fill, 15)
		t.right(ts.Equal("s"+d.String(), "l"+d.String()))
		t.right(ts.Equal("l"+d.String(), fill))
		t.right(ts.Close("l"+d.String(), fill, 0, 0))
	}
	ts.Local("b", symmem.Bool, "i % 2 == 0", 4)
	t.equal("bool", ts.Tensor("b").Bools(), []bool{true, false, true, false})
	ts.Local("u", symmem.U64, "18446744073709551615 - i", 2)
	t.right(ts.Equal("u", "u"))
	ts.Local("special", symmem.F16, "where(i == 0, nan, where(i == 1, -inf, inf))", 3)
	t.right(ts.Equal("special", "special"))
	ts.Local("none", symmem.F32, "1/0", 0)
	t.right(ts.Equal("none", "none[5]"))
	ts.Local("one", symmem.F32, "7")
	t.equal("no dimensions", ts.Tensor("one").Item(), 7.0)
	t.right(ts.Equal("one", "7"))
	ts.Local("typed", symmem.Default, "0.5", 1)
	t.equal("default", ts.Tensor("typed").DType(), symmem.DefaultDType())
	ts.Free()
}

// expectDiffersCase changes elements and reads the differences.
func expectDiffersCase(t *T) {
	k := symmem.Compile(expectKernels).Kernel("add")
	ts := expect.New()
	x := ts.Symmetric("x", symmem.F32, "i / 2.0", 4, 8)
	if t.rank == 1 {
		k.Launch(symmem.Grid(1), symmem.Block(1), x, 3, float32(0.25))
		k.Launch(symmem.Grid(1), symmem.Block(1), x, 17, float32(math.Inf(1)))
	}
	err := ts.Equal("x", "x")
	var d *expect.Difference
	if t.rank != 1 {
		t.right(err)
	} else if !errors.As(err, &d) {
		t.Errorf("no difference: %v", err)
	} else {
		t.equal("numbers", []int{d.Rank, d.Elements, d.Differ, len(d.First), d.First[1].Index}, []int{1, 32, 2, 2, 17})
		t.equal("text", err.Error(), "rank 1: 2 of 32 elements of x are not x\n  x[0, 3] is 1.75, want 1.5\n  x[2, 1] is +Inf, want 8.5")
	}
	t.right(ts.Equal("x", "x", 0))
	t.equal("rank 1 alone", ts.Equal("x", "x", 1) != nil, t.rank == 1)
	if err := ts.Close("x", "where(i == 17, inf, x)", 0.17, 0); err != nil {
		t.equal("text", strings.HasPrefix(err.Error(), "rank 0: 1 of 32 elements of x is not close to where(i == 17, inf, x) (rtol 0.17, atol 0)\n  x[2, 1] is 8.5, want +Inf"),
			t.rank == 0)
	}
	t.right(ts.Close("x", "where(i == 17, inf, x)", 0, 0.25, 1))
	t.equal("too far", ts.Close("x", "where(i == 17, inf, x)", 0, 0.24, 1) != nil, t.rank == 1)
	all := ts.Equal("x", "-1 - x", 0)
	if errors.As(all, &d) {
		t.equal("all", []int{d.Differ, len(d.First), d.Worst.Index}, []int{32, 8, 31})
		t.equal("the end", all.Error()[strings.LastIndex(all.Error(), "\n"):], "\n  and 24 more; the largest difference is 32, of x[3, 7]: it is 15.5, want -16.5")
	}
	t.equal("all differ", all != nil, t.rank == 0)
	ts.Free()
}

// expectGroupCase uses a set of some ranks, whose numbers are those in the group.
func expectGroupCase(t *T) {
	g := symmem.NewGroup(0, 2)
	if !slices.Contains(g.Ranks(), t.rank) {
		t.refused(symmem.KindMisuse, func() { expect.New(g) }, "this rank is not a member of")
	} else {
		ts := expect.New(g)
		ts.Symmetric("x", symmem.F32, "10*rank + size", 4)
		ts.Local("out", symmem.F32, "", 4)
		if len(symmem.Caps().Hosts) == 1 {
			symmem.Compile(expectKernels).Launch(symmem.Grid(1), symmem.Block(4), ts.Handle("x"), ts.Tensor("out"), 4)
			t.right(ts.Equal("out", "14"))
			t.right(ts.Equal("out", "rank_sum(x)"))
		}
		ts.Free()
	}
	g.Free()
}

// expectMisuseCase calls sets with wrong arguments.
func expectMisuseCase(t *T) {
	misuse := symmem.KindMisuse
	ts := expect.New()
	ts.Symmetric("x", symmem.F32, "", 8)
	ts.Local("y", symmem.I32, "i", 8)
	for name, words := range map[string]string{"x": "the set has a tensor x already", "rank": "it has a meaning in formulas", "": "no identifier of Go",
		"a b": "no identifier of Go", "func": "no identifier of Go"} {
		t.refused(misuse, func() { ts.Local(name, symmem.F32, "", 1) }, "expect.Local", words)
		t.refused(misuse, func() { ts.Symmetric(name, symmem.F32, "", 1) }, "expect.Symmetric", words)
	}
	t.refused(misuse, func() { ts.Local("c", symmem.C64, "", 1) }, "formulas have no values of c64")
	t.refused(misuse, func() { ts.Local("c", 4, "", 1) }, "formulas have no values of DType(4)")
	t.refused(misuse, func() { ts.Local("c", symmem.F32, "", -1) }, "Local")
	e := t.refused(misuse, func() { ts.Local("c", symmem.F32, "z + 1", 1) }, "the fill of c: formula \"z + 1\", column 1: there is no name z")
	var wrong *formula.Error
	t.equal("the cause", errors.As(e, &wrong) && wrong.Column == 1, true)
	t.refused(misuse, func() { ts.Local("c", symmem.F32, "c", 1) }, "there is no name c")
	t.refused(misuse, func() { ts.Local("c", symmem.I32, "0.5", 1) }, "the formula's value is a float, and the elements are i32")
	e = t.refused(misuse, func() { ts.Local("c", symmem.U8, "i", 300) }, "element 256: 256 is out of the range of u8")
	var late *formula.EvalError
	t.equal("the cause", errors.As(e, &late) && late.Index == 256, true)
	t.refused(misuse, func() { ts.Tensor("X") }, `the set has no tensor "X"`, "did you mean x?")
	t.refused(misuse, func() { ts.Tensor("quite different") }, "the tensors are x, y")
	for _, f := range []func(){func() { ts.Handle("y") }, func() { ts.Peers("y") }, func() { ts.Pads("y") }, func() { ts.Pad("y") }} {
		t.refused(misuse, f, "y is not symmetric: other ranks do not map it")
	}
	for _, c := range []struct {
		err   error
		words string
	}{
		{ts.Equal("z", "1"), `the set has no tensor "z"`}, {ts.Equal("x", "1", t.size), "not"}, {ts.Equal("x", "1", -1), "the ranks are 0 to"},
		{ts.Equal("x", ""), "the formula is empty"}, {ts.Equal("x", "z"), "what x should hold: formula \"z\", column 1"},
		{ts.Equal("y", "x"), "write i32(…) around it"}, {ts.Equal("x", "y[i+1]"), "y has 8 elements, and the index is 8"},
		{ts.Close("x", "1", -1, 0), "rtol is finite and not negative, not -1"}, {ts.Close("x", "1", 0, math.NaN()), "atol is finite"},
		{ts.Close("x", "1", math.Inf(1), 0), "rtol is finite"},
	} {
		var e *symmem.Error
		if !errors.As(c.err, &e) || e.Kind != misuse || !strings.Contains(e.Error(), c.words) {
			t.Errorf("got %v, want %s", c.err, c.words)
		}
	}
	t.refused(misuse, func() { expect.New(nil) }, "expect.New", "the tensors of a set belong to one group")
	var none *expect.Tensors
	t.refused(misuse, func() { none.Tensor("x") }, "there is no set of tensors")
	t.refused(misuse, func() { new(expect.Tensors).Local("x", symmem.F32, "") }, "make one with expect.New")
	none.Free()
	ts.Free()
}
