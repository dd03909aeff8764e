package symmem

import (
	"github.com/symmrepl/symmrepl/kernels/reduce"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// reductionOf returns the reduction of a name.
func reductionOf(name string) (op reduce.Op, ok bool) {
	switch name {
	case "sum":
		return reduce.Sum, true
	case "avg":
		return reduce.Avg, true
	case "max":
		return reduce.Max, true
	case "min":
		return reduce.Min, true
	}
	return 0, false
}

// reduction is a call of a reduction whose arguments were checked.
type reduction struct {
	core.Call
	t     *Tensor
	dtype DType // of what is reduced
	code  reduce.Op
}

// reduction begins a reduction: it makes the checks that all reductions have in common.
func (rt *Runtime) reduction(of *operators.Operator, t *Tensor, name string, opts []Option) reduction {
	rt.core.Usable(of.Name, t)
	r := reduction{Call: rt.core.NewCall(of, core.Operand(t).Home(), opts), t: t}
	r.reduce(of, t.DType(), t.Numel(), name)
	r.Record.On(t)
	return r
}

// reduce checks how n elements of a type are to be reduced.
func (r *reduction) reduce(of *operators.Operator, dtype DType, n int, name string) {
	code, ok := reductionOf(name)
	if !ok {
		panic(r.Misuse("op", "", `the reduction must be "sum", "avg", "max" or "min", not %q`, name))
	}
	switch e := element.Type(dtype); {
	case e.IsComplex(), dtype == Bool:
		panic(r.Misuse("tensor", "AllReduce and ReduceScatter reduce it", "%s does not reduce %v", of.Call, dtype))
	case dtype == I16 || dtype == U16:
		panic(r.Misuse("tensor", "convert it, as by x.Convert(symm.I32)", "%v is not reduced between ranks", dtype))
	}
	float8 := dtype == F8E4M3 || dtype == F8E5M2
	if float8 && !of.Float8 {
		panic(r.Misuse("tensor", "use ReduceScatter, or convert it through the host, as by CopyFrom(x.Float32s())",
			"%v is a storage type, and %s does not reduce it", dtype, of.Call))
	}
	r.code, r.dtype = code, dtype
	r.Record.DType, r.Record.N, r.Record.Reduction = element.Type(dtype), n, name
	if r.Has(operators.AccumulateF32) && !float8 && dtype != F16 && dtype != BF16 {
		panic(r.Misuse("AccumulateF32", "leave it out", "AccumulateF32 is for f16 and bf16, the tensor is %v", dtype))
	}
	if r.Has(operators.AccumulateF32) || float8 {
		r.code |= reduce.Wide
		r.Record.Detail = "accumulated as f32"
	}
}

// checkOut refuses an out that is not like the tensor that is reduced, or overlaps it.
func (r *reduction) checkOut(out *Tensor) {
	if out.DType() != r.t.DType() || out.Numel() != r.t.Numel() {
		panic(r.Misuse("out", "give one of the same type and number of elements", "out is %v, the tensor is %v",
			core.Operand(out).Brief(), core.Operand(r.t).Brief()))
	}
	if core.Operand(r.t).Overlaps(out) {
		panic(r.Misuse("out", "", "out overlaps the tensor"))
	}
}

// kernelNames are names of kernels by element type.
type kernelNames [F8E5M2 + 1]string

func namesOf(prefix string) (names kernelNames) {
	for d := F16; d <= F8E5M2; d++ {
		names[d] = prefix + d.String()
	}
	return names
}
