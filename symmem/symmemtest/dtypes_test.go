package symmemtest

import (
	"fmt"
	"path/filepath"

	"github.com/symmrepl/symmrepl/symmem"
)

// truthsCase has tensors of Bool: a truth is a byte, "sum" is a logical or.
func truthsCase(t *T) {
	x := symmem.Empty(symmem.Bool, 2, 3).CopyFrom([]bool{true, false, true, false, false, t.rank == 0})
	defer x.Free()
	t.equal("read", x.Bools(), []bool{true, false, true, false, false, t.rank == 0})
	t.equal("as whole numbers", x.Slice(0, 1).Ints(), []int{1, 0, 1})
	t.equal("shown", x.Slice(0, 1).View(3).String(), "bool[3] on "+symmem.Caps().Device+", symmetric [true false true]")
	t.equal("transposed", x.Transpose().Slice(2, 3).Bools(), []bool{true, t.rank == 0})
	t.equal("a truth in a formula", symmem.Map("!x0", x.Slice(0, 1)).Ints(), []int{0, 1, 0})
	t.equal("converted", symmem.Local(symmem.F32, 3).CopyFrom([]float32{0, 0.5, -1}).Convert(symmem.Bool).Bools(), []bool{false, true, true})
	t.equal("into Bool", symmem.Map("x0 > 1", symmem.Local(symmem.I32, 3).Arange(), symmem.Into(symmem.Local(symmem.Bool, 3))).Bools(),
		[]bool{false, false, true})
	t.equal("selects", x.Slice(0, 1).Where(7, symmem.Local(symmem.I16, 3).Fill(-2)).Ints(), []int{7, -2, 7})
	t.equal("equal", x.Equal(x.Transpose().Transpose()), true)
	t.equal("counted", x.Slice(0, 1).Sum().Ints(), []int{2})
	t.refused(symmem.KindMisuse, func() { x.Fill(2) }, "out of the range of bool")
	t.refused(symmem.KindMisuse, func() { x.Arange() }, "storage type")
	t.refused(symmem.KindMisuse, func() { symmem.AllReduce(x, "avg") }, "bool has no avg")
	t.refused(symmem.KindMisuse, func() { symmem.Local(symmem.U8, 1).Bools() }, "Ints reads it")
	t.refused(symmem.KindMisuse, func() { symmem.Local(symmem.F32, 1).Uint8s() }, "Float32s reads it")
	t.equal("bytes", symmem.Local(symmem.U8, 2).CopyFrom([]byte("ab")).Uint8s(), []byte("ab"))

	ors := symmem.OneShotAllReduce(x, "sum")
	t.equal("or", ors.Bools(), []bool{true, false, true, false, false, true})
	ands := symmem.Empty(symmem.Bool, 2, 3)
	defer ands.Free()
	symmem.TwoShotAllReduceOut(x, "min", ands)
	t.equal("and", ands.Bools(), []bool{true, false, true, false, false, t.size == 1})
	k := symmem.Compile(`extern "C" __global__ void invert(bool* x, short* n) { x[threadIdx.x] = !x[threadIdx.x]; n[threadIdx.x] -= 5; }`)
	n := symmem.Local(symmem.I16, 3).Arange()
	k.Launch(symmem.Grid(1), symmem.Block(3), ors, n)
	t.equal("inverted", fmt.Sprint(ors.Slice(0, 1).Bools(), n.Ints()), "[false true false] [-5 -4 -3]")
	t.refused(symmem.KindMisuse, func() { k.Launch(symmem.Grid(1), symmem.Block(1), n, n) }, "bool* x")
}

// complexNumbersCase has tensors of complex numbers, whose parts are small whole numbers.
func complexNumbersCase(t *T) {
	dir, remove := t.folder("complex")
	defer remove()
	for _, d := range []symmem.DType{symmem.C64, symmem.C128} {
		x := symmem.Empty(d, 4, t.size).Fill(complex(float64(t.rank), -1))
		part := symmem.F32
		if d == symmem.C128 {
			part = symmem.F64
		}
		t.equal("parts", x.As(part).Slice(0, 1).Float64s()[:2], []float64{float64(t.rank), -1})
		t.equal("a real number", symmem.Local(d, 1).Fill(3).Complex128s(), []complex128{3})
		v := symmem.Local(d, 3).CopyFrom([]complex64{1, 2i, 3 - 4i})
		t.equal("read", v.Complex128s(), []complex128{1, 2i, 3 - 4i})
		t.equal("shown", v.String(), fmt.Sprintf("%v[3] on %s [1+0i 0+2i 3-4i]", d, symmem.Caps().Device))
		t.equal("product", v.Mul(v).Complex128s(), []complex128{1, -4, -7 - 24i})
		t.equal("quotient", v.Div(symmem.Local(d, 1).Fill(2i)).Complex128s(), []complex128{-0.5i, 1, -2 - 1.5i})
		t.equal("with a number", v.Add(1).Mul(2).Complex128s(), []complex128{4, 2 + 4i, 8 - 8i})
		t.equal("with integers", v.Sub(symmem.Local(symmem.I8, 3).Arange()).Complex128s(), []complex128{1, -1 + 2i, 1 - 4i})
		t.equal("magnitudes", v.Abs().Float64s(), []float64{1, 2, 5})
		t.equal("their type", v.Abs().DType(), part)
		t.equal("conjugates", symmem.Map("conj(x0) + imag(x0)", v).Complex128s(), []complex128{1, 2 - 2i, -1 + 4i})
		t.equal("sum", v.Sum().Complex128s(), []complex128{4 - 2i})
		t.equal("product of all", symmem.Reduce("prod(x0)", v).Complex128s(), []complex128{8 + 6i})
		t.equal("along", x.Sum(symmem.Along(0)).Complex128s()[0], complex(4*float64(t.rank), -4))
		t.equal("dot", v.Dot(v).Complex128s(), []complex128{-10 - 24i})
		t.equal("norm", v.Slice(2, 3).Norm().Float64s(), []float64{5})
		t.equal("compared", fmt.Sprint(v.Equal(v), v.AllClose(v.Add(1)), v.MaxDiff(v.Add(symmem.Local(d, 1).Fill(3-4i)))), "true false 5")
		t.equal("transposed", v.View(3, 1).Transpose().Complex128s(), []complex128{1, 2i, 3 - 4i})
		wide := symmem.Local(d, 40, 3).CopyFrom(symmem.Concatenate(0, symmem.Local(d, 39, 3), v.View(1, 3)))
		t.equal("a large transpose", wide.Transpose().View(120).Slice(119, 120).Complex128s(), []complex128{3 - 4i})
		for _, op := range []string{"min(x0)", "argmax(x0)"} {
			t.refused(symmem.KindMisuse, func() { symmem.Reduce(op, v) }, "not for complex numbers")
		}
		t.refused(symmem.KindMisuse, func() { v.Exp() }, "not for complex numbers")
		t.refused(symmem.KindMisuse, func() { v.Lt(1) }, "not for complex numbers")
		t.refused(symmem.KindMisuse, func() { v.Convert(symmem.F32) }, "not for complex numbers")
		t.refused(symmem.KindMisuse, func() { v.Add(1i) }, "one element")
		t.refused(symmem.KindMisuse, func() { v.Float64s() }, "Complex128s")
		t.refused(symmem.KindMisuse, func() { v.Ints() }, "Complex128s")
		t.refused(symmem.KindMisuse, func() { v.Stats() }, "Complex128s")
		t.refused(symmem.KindMisuse, func() { v.Rand(1) }, "As(symm.F")
		t.refused(symmem.KindMisuse, func() { symmem.Local(symmem.F32, 1).Fill(1i) }, "f32 is not complex")
		t.refused(symmem.KindMisuse, func() { symmem.AllReduce(x, "max") }, "complex numbers have no max")

		k := symmem.Compile(`extern "C" __global__ void turn(float2* x, double2* y, float2 by) {
			if (x) x[threadIdx.x] = make_float2(-x[threadIdx.x].y * by.y, x[threadIdx.x].x * by.y);
			if (y) y[threadIdx.x] = make_double2(-y[threadIdx.x].y, y[threadIdx.x].x);
		}`)
		args := []any{v, uintptr(0), 1i}
		if d == symmem.C128 {
			args = []any{uintptr(0), v, complex64(1i)}
		}
		k.Launch(symmem.Grid(1), symmem.Block(3), args...)
		t.equal("by a kernel", v.Complex128s(), []complex128{1i, -2, 4 + 3i})

		path := filepath.Join(dir, fmt.Sprintf("%d-%v.npy", t.rank, d))
		v.Save(path)
		t.equal("from a file", symmem.Load(path, symmem.Ordinary()).Complex128s(), []complex128{1i, -2, 4 + 3i})
		if d == symmem.C128 {
			t.refused(symmem.KindMisuse, func() { v.Save(path + ".safetensors") }, "safetensors has no c128")
		}

		ranks := float64(t.size)
		sum := complex(ranks*(ranks-1)/2, -ranks)
		gathered := symmem.AllGather(x.Slice(0, 1))
		t.equal("gathered", gathered.Complex128s()[(t.size-1)*t.size], complex(ranks-1, -1))
		scattered := symmem.ReduceScatter(x.View(t.size, 4), "sum")
		t.equal("scattered", fmt.Sprint(scattered.Shape(), scattered.Complex128s()), fmt.Sprint([]int{1, 4}, []complex128{sum, sum, sum, sum}))
		t.equal("one shot", symmem.OneShotAllReduce(x, "sum").Complex128s()[0], sum)
		t.equal("average", symmem.AllReduce(x, "avg").Slice(3, 4).Complex128s()[t.size-1], sum/complex(ranks, 0))
		x.Free()
	}
	t.refused(symmem.KindMisuse, func() { symmem.AllReduce(symmem.Empty(symmem.I16, 2), "sum") }, "Convert(symm.I32)")
}

// defaultDTypeCase makes tensors of the default type.
func defaultDTypeCase(t *T) {
	defer symmem.SetDefaultDType(symmem.F32)
	t.equal("at first", symmem.Local(symmem.Default, 2).DType(), symmem.F32)
	symmem.SetDefaultDType(symmem.BF16)
	x := symmem.Empty(symmem.Default, 4)
	t.equal("set", []symmem.DType{x.DType(), symmem.Local(symmem.Default).DType(), symmem.Host(symmem.Default, 1).DType(), symmem.DefaultDType()},
		[]symmem.DType{symmem.BF16, symmem.BF16, symmem.BF16, symmem.BF16})
	x.Free()
	t.refused(symmem.KindMisuse, func() { symmem.SetDefaultDType(4) }, "not an element type")
	if t.rank == 0 {
		symmem.SetDefaultDType(symmem.F16)
	}
	t.refused(symmem.KindMismatch, func() { symmem.Empty(symmem.Default, 4) }, "f16[4]", "bf16[4]")
}
