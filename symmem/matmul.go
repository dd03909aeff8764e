package symmem

import "github.com/symmrepl/symmrepl/symmem/internal/device"

// matMulSpace is what cuBLASLt is recommended to have on a GPU of today.
const matMulSpace = 32 << 20

// MatMul sets out to the product of a, [m, k], and b, [k, n]. On a GPU floats are multiplied by cuBLASLt, opened
// when it is first needed; Explain tells what was used, and why. Without the library, on the cpu device and for
// integers a plain kernel does it, slowly.
//
// PyTorch: mm with out=
//
// Shapes: all are contiguous and of any memory, a and b of one type that computes and out, [m, n], of the same;
// f16 and bf16 are added up as f32, and out may then be f32. out does not overlap a or b.
//
// Synchronises: ordered on the stream; it concerns this rank alone.
//
// Options: *Stream.
//
// Capture: yes.
//
// Errors: KindMisuse for tensors that are not such; those of 8-bit floats are among them, which only store.
func (rt *Runtime) MatMul(out, a, b *Tensor, opts ...Option) {
	const op = "matmul"
	for _, t := range []*Tensor{out, a, b} {
		t.live(op)
		if len(t.shape) != 2 {
			panic(rt.misuse(op, "tensor", "View gives a tensor other dimensions", "a matrix has two dimensions, not %v", t.shape))
		}
	}
	m, k, n := a.shape[0], a.shape[1], b.shape[1]
	a.mustCompute(op)
	switch {
	case a.dtype != b.dtype:
		panic(rt.misuse(op, "b", "", "b is %v, a is %v: they must be of one type", b.kind(), a.kind()))
	case b.shape[0] != k:
		panic(rt.misuse(op, "b", "", "b is %v, and a, %v, needs one of %d rows", b.kind(), a.kind(), k))
	case out.shape[0] != m || out.shape[1] != n:
		panic(rt.misuse(op, "out", "", "out is %v, expected out shape [%d, %d]", out.kind(), m, n))
	case out.dtype != a.dtype && !(out.dtype == F32 && (a.dtype == F16 || a.dtype == BF16)):
		panic(rt.misuse(op, "out", "", "out is %v: a product of %v is %v, or f32 of a 16-bit float", out.kind(), a.dtype, a.dtype))
	case overlap(out, a) || overlap(out, b):
		panic(rt.misuse(op, "out", "", "out overlaps a factor"))
	}
	c := rt.newCall(op, alone, rt.all, ordered, opts)
	c.record.dtype, c.record.n = a.dtype, out.n
	defer c.enter().leave()
	c.begin()
	if out.n == 0 {
		return
	}
	c.admit(out, a, b)
	name, why := rt.dev.MatMulLibrary()
	if name == "" || !a.dtype.isFloat() || k == 0 {
		if name != "" {
			why = "the library does not do this one"
		}
		c.chose(out.Bytes(), &way{"plain kernel", why})
		args := matMulArgs{out.pointer(), a.pointer(), b.pointer(), uint64(m), uint64(n), uint64(k), truth(out.dtype != a.dtype)}
		c.launch("matmul_"+a.dtype.String(), 0, rt.gridFor(out.n), bytesOf(&args))
		return
	}
	c.chose(out.Bytes(), &way{name, "it is the device's library"})
	d := device.MatMul{Out: out.pointer(), A: a.pointer(), B: b.pointer(), M: m, N: n, K: k, Type: a.dtype.String(), OutType: out.dtype.String()}
	if rt.capture == nil { // a graph runs on any stream, and would share the space with what runs there
		if c.stream.space == nil {
			c.stream.space = rt.take(op, c.stream, matMulSpace)
		}
		d.Workspace, d.WorkspaceSize = c.stream.space.ptr, matMulSpace
	}
	c.issued(c.stream.issue(func(s device.Stream) error { return s.MatMul(d) }))
}

// matMulArgs is MatMulArgs of matmul.cu.
type matMulArgs struct {
	out, a, b device.Ptr
	m, n, k   uint64
	wide      uint64
}
