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

// MatMul sets out to the product of a, [m, k], and b, [k, n], and returns out. On a GPU floats are
// multiplied by cuBLASLt, opened when it is first needed; Explain names the kernel that was used,
// and the reason. Without the library, on the cpu device, for integers and where the library has no
// algorithm a plain kernel does it, slowly. 8-bit floats are added up as f32, multiplied by Scales
// if there are any, and rounded once; tensor cores add up their products with less precision than
// f32.
//
// PyTorch: mm with out=; with Scales scaled_mm
//
// Shapes: all are contiguous and of any memory, a and b of one type that computes or f8e4m3 and out,
// [m, n], of the same; f16 and bf16 are added up as f32, and out may then be f32; out of f8e4m3 is
// bf16, f16 or f32; integers wrap around. With TransposedB b is [n, k]. out does not overlap a or b.
// On a GPU the library multiplies f8e4m3 with TransposedB, where 16 divides k and n.
//
// Synchronises: ordered on the stream; it concerns this rank alone.
//
// Options: *Stream, Scales, TransposedB.
//
// Capture: yes.
//
// Errors: KindMisuse for tensors that do not fit, and for f8e5m2, which only stores.
func (rt *Runtime) MatMul(out, a, b *Tensor, opts ...Option) *Tensor {
	of := operators.MatMul
	rt.core.Usable(of.Name, out, a, b)
	c := rt.core.NewCall(of, rt.Group(), opts)
	f := factorsOf(&c, a, "b", b)
	m, n := f.rows(a), f.columns("b", b)
	f.checkOut(out, a, m, n)
	f.checkScales(a, m, []*Tensor{b}, false)
	if core.Operand(out).Overlaps(a) || core.Operand(out).Overlaps(b) {
		panic(c.Misuse("out", "", "out overlaps a factor"))
	}
	c.Record.DType, c.Record.N = element.Type(a.DType()), out.Numel()
	defer c.Enter().Leave()
	c.PickStream()
	if out.Numel() == 0 {
		return out
	}
	c.Admit(append([]*Tensor{out, a, b}, f.scales()...)...)
	c.Chose(out.Bytes(), rt.multiply(&f, out, core.Operand(out).Addr(), core.Operand(a).Addr(), m, b, f.scale(0), 0))
	return out
}

// factors are the factors of the products of a call.
type factors struct {
	*core.Call
	k       int
	flipped bool    // b is given as [n, k]
	scaleA  *Tensor // the scales of a, nil if there are none
	byRow   bool    // there is a scale for each row and column
}

// factorsOf checks that a can be multiplied by each of bs. arg names these.
func factorsOf(c *core.Call, a *Tensor, arg string, bs ...*Tensor) factors {
	f := factors{Call: c, flipped: c.Has(operators.TransposedB)}
	f.matrix("a", a)
	if a.DType() != F8E4M3 {
		core.Operand(a).MustMultiply(c.Op())
	}
	f.k = core.Operand(a).Dims()[1]
	for _, b := range bs {
		f.matrix(arg, b)
		rows, what := 0, "rows"
		if f.flipped {
			rows, what = 1, "columns, because TransposedB was given"
		}
		switch {
		case a.DType() != b.DType():
			panic(c.Misuse(arg, "", "%s is %v, a is %v: they must be of one type", arg, core.Operand(b).Brief(), core.Operand(a).Brief()))
		case core.Operand(b).Dims()[rows] != f.k:
			panic(c.Misuse(arg, "", "%s is %v, and a, %v, needs one of %d %s", arg, core.Operand(b).Brief(),
				core.Operand(a).Brief(), f.k, what))
		}
	}
	return f
}

// matrix refuses a tensor that is no matrix.
func (f *factors) matrix(arg string, t *Tensor) {
	if len(core.Operand(t).Dims()) != 2 {
		panic(f.Misuse(arg, "View gives a tensor other dimensions", "a matrix has two dimensions, not %v", core.Operand(t).Dims()))
	}
}

func (f *factors) rows(a *Tensor) int { return core.Operand(a).Dims()[0] }

func (f *factors) columns(arg string, b *Tensor) int {
	if f.flipped {
		return core.Operand(b).Dims()[0]
	}
	return core.Operand(b).Dims()[1]
}

// checkOut refuses an out that is not the product of a and a factor, m by n.
func (f *factors) checkOut(out, a *Tensor, m, n int) {
	f.matrix("out", out)
	if dims := core.Operand(out).Dims(); dims[0] != m || dims[1] != n {
		panic(f.Misuse("out", "", "out is %v, expected out shape [%d, %d]", core.Operand(out).Brief(), m, n))
	}
	from, to := a.DType(), out.DType()
	switch {
	case from == F8E4M3:
		if to != BF16 && to != F16 && to != F32 {
			panic(f.Misuse("out", "give one of that type", "out is %v: a product of f8e4m3 is bf16, f16 or f32", core.Operand(out).Brief()))
		}
	case to != from && !(to == F32 && (from == F16 || from == BF16)):
		panic(f.Misuse("out", "give one of that type", "out is %v: a product of %v is %v, or f32 of a 16-bit float",
			core.Operand(out).Brief(), from, from))
	}
}

// checkScales refuses scales that do not fit products of a, of m rows, and bs. sharded reports
// whether the scales of a are a part, which will be gathered.
func (f *factors) checkScales(a *Tensor, m int, bs []*Tensor, sharded bool) {
	if !f.Has(operators.Scales) {
		return
	}
	s := f.Scales()
	if a.DType() != F8E4M3 {
		panic(f.Misuse("Scales", "Mul scales the result", "Scales are for f8e4m3, a is %v", core.Operand(a).Brief()))
	}
	if len(s.B) != len(bs) {
		panic(f.Misuse("Scales", "", "Scales needs one tensor for a and one for each of the %d factors after it, not %d", len(bs),
			len(s.B)))
	}
	for _, t := range append([]*Tensor{s.A}, s.B...) {
		if t.DType() != F32 {
			panic(f.Misuse("Scales", "", "scales are f32, not %v", core.Operand(t).Brief()))
		}
	}
	f.scaleA = s.A
	f.byRow = sharded || s.A.Numel() != 1 || m == 1 && s.B[0].Numel() != 1
	if f.byRow && !sharded && s.A.Numel() != m {
		panic(f.Misuse("Scales", "", "the scales of a are %v, expected 1, or %d, one for each row", core.Operand(s.A).Brief(), m))
	}
	for i, b := range bs {
		want := 1
		if f.byRow {
			want = f.columns("b", b)
		}
		if s.B[i].Numel() != want {
			panic(f.Misuse("Scales", "",
				"the scales of b are %v, expected %d: a and b both have one, or one for each row of a and column of b",
				core.Operand(s.B[i]).Brief(), want))
		}
	}
}

// scales are the tensors of scales that the call uses.
func (f *factors) scales() []*Tensor {
	if f.scaleA == nil {
		return nil
	}
	return append([]*Tensor{f.scaleA}, f.Scales().B...)
}

// scale is the scales of a factor after the first, nil if there are none.
func (f *factors) scale(i int) *Tensor {
	if f.scaleA == nil {
		return nil
	}
	return f.Scales().B[i]
}

// multiply puts a product in the call's stream: to is its place, of the type of out, and a are m
// rows, of which the first is row `first` of the scales of a. It returns the way that it went.
func (rt *Runtime) multiply(f *factors, out *Tensor, to, a device.Ptr, m int, b, scale *Tensor, first int) *tuning.Way {
	n, from := f.columns("b", b), b.DType()
	var scaleA, scaleB device.Ptr
	if scale != nil {
		scaleA, scaleB = core.Operand(f.scaleA).Addr(), core.Operand(scale).Addr()
		if f.byRow {
			scaleA += device.Ptr(first * F32.Size())
		}
	}
	name, why := rt.dev.MatMulLibrary()
	if name != "" {
		why = "the library does not do this one"
		if element.Type(from).IsFloat() && f.k > 0 {
			d := device.MatMul{Out: to, A: a, B: core.Operand(b).Addr(), M: m, N: n, K: f.k, Type: from.String(),
				OutType: out.DType().String(),
				Flipped: f.flipped, ScaleA: scaleA, ScaleB: scaleB, Scales: f.byRow}
			if space := f.Scratch(matMulSpace); space != 0 {
				d.Workspace, d.WorkspaceSize = space, matMulSpace
			}
			if why = f.Attempt(func(s device.Stream) error { return s.MatMul(d) }); why == "" {
				return &tuning.Way{Path: name, Why: "it is the device's library"}
			}
		}
	}
	args := matmul.MatMulArgs{Out: to, A: a, B: core.Operand(b).Addr(), M: uint64(m), N: uint64(n), K: uint64(f.k),
		Wide:    truth(out.DType() != from),
		Flipped: truth(f.flipped), ScaleA: scaleA, ScaleB: scaleB, Scales: truth(f.byRow)}
	kernel := "matmul_" + from.String()
	if from == F8E4M3 {
		kernel += "_" + out.DType().String()
	}
	f.Launch(kernel, 0, f.ElementGrid(m*n), launch.Bytes(&args))
	return &tuning.Way{Path: "plain kernel", Why: why}
}
