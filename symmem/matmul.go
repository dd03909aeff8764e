package symmem

import (
	"github.com/symmrepl/symmrepl/kernels/matmul"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// matMulSpace is the recommended workspace of cuBLASLt on current GPUs.
const matMulSpace = 32 << 20

// MatMul sets out to the product of a, [m, k], and b, [k, n]. On a GPU floats are multiplied by
// cuBLASLt, opened when it is first needed; Explain tells what was used, and why. Without the
// library, on the cpu device and for integers a plain kernel does it, slowly.
//
// PyTorch: mm with out=
//
// Shapes: all are contiguous and of any memory, a and b of one type that computes and out, [m, n],
// of the same; f16 and bf16 are added up as f32, and out may then be f32; integers wrap around. out
// does not overlap a or b.
//
// Synchronises: ordered on the stream; it concerns this rank alone.
//
// Options: *Stream.
//
// Capture: yes.
//
// Errors: KindMisuse for tensors that do not fit; those of 8-bit floats are among them, which only
// store.
func (rt *Runtime) MatMul(out, a, b *Tensor, opts ...Option) {
	op := operators.MatMul.Name
	for _, t := range []*Tensor{out, a, b} {
		rt.core.Usable(op, t)
		if len(core.Operand(t).Dims()) != 2 {
			panic(rt.core.Misuse(op, "tensor", "View gives a tensor other dimensions", "a matrix has two dimensions, not %v", core.Operand(t).Dims()))
		}
	}
	m, k, n := core.Operand(a).Dims()[0], core.Operand(a).Dims()[1], core.Operand(b).Dims()[1]
	core.Operand(a).MustCompute(op)
	switch {
	case a.DType() != b.DType():
		panic(rt.core.Misuse(op, "b", "", "b is %v, a is %v: they must be of one type", core.Operand(b).Brief(), core.Operand(a).Brief()))
	case core.Operand(b).Dims()[0] != k:
		panic(rt.core.Misuse(op, "b", "", "b is %v, and a, %v, needs one of %d rows", core.Operand(b).Brief(), core.Operand(a).Brief(), k))
	case core.Operand(out).Dims()[0] != m || core.Operand(out).Dims()[1] != n:
		panic(rt.core.Misuse(op, "out", "", "out is %v, expected out shape [%d, %d]", core.Operand(out).Brief(), m, n))
	case out.DType() != a.DType() && !(out.DType() == F32 && (a.DType() == F16 || a.DType() == BF16)):
		panic(rt.core.Misuse(op, "out", "give one of that type", "out is %v: a product of %v is %v, or f32 of a 16-bit float", core.Operand(out).Brief(), a.DType(), a.DType()))
	case core.Operand(out).Overlaps(a) || core.Operand(out).Overlaps(b):
		panic(rt.core.Misuse(op, "out", "", "out overlaps a factor"))
	}
	c := rt.core.NewCall(operators.MatMul, rt.Group(), opts)
	c.Record.DType, c.Record.N = element.Type(a.DType()), out.Numel()
	defer c.Enter().Leave()
	c.PickStream()
	if out.Numel() == 0 {
		return
	}
	c.Admit(out, a, b)
	name, why := rt.dev.MatMulLibrary()
	if name == "" || !element.Type(a.DType()).IsFloat() || k == 0 {
		if name != "" {
			why = "the library does not do this one"
		}
		c.Chose(out.Bytes(), &tuning.Way{Path: "plain kernel", Why: why})
		args := matmul.MatMulArgs{Out: core.Operand(out).Addr(), A: core.Operand(a).Addr(), B: core.Operand(b).Addr(), M: uint64(m), N: uint64(n), K: uint64(k), Wide: truth(out.DType() != a.DType())}
		c.Launch("matmul_"+a.DType().String(), 0, c.ElementGrid(out.Numel()), launch.Bytes(&args))
		return
	}
	c.Chose(out.Bytes(), &tuning.Way{Path: name, Why: "it is the device's library"})
	d := device.MatMul{Out: core.Operand(out).Addr(), A: core.Operand(a).Addr(), B: core.Operand(b).Addr(), M: m, N: n, K: k, Type: a.DType().String(), OutType: out.DType().String()}
	if space := c.Scratch(matMulSpace); space != 0 {
		d.Workspace, d.WorkspaceSize = space, matMulSpace
	}
	c.Issue(func(s device.Stream) error { return s.MatMul(d) })
}
