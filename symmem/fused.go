package symmem

import (
	"fmt"

	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// Products of which one part is calculated while copy engines move another: PyTorch calls them
// asynchronous tensor parallelism.

// AllGatherMatMul gathers the members' rows a one after the other, in the order of the ranks, and
// multiplies them by each of bs. It returns all rows and the products, as ordinary tensors. Copy
// engines fetch the rows of one member while the rows of the member before are multiplied, on a
// stream for copies that the world keeps. The results have the same bits as those of AllGather and
// MatMul if a product does not depend on the number of rows, as with the plain kernel and for whole
// numbers; cuBLASLt may choose another algorithm for fewer rows.
//
// PyTorch: fused_all_gather_matmul with gather_dim=0; with Scales fused_all_gather_scaled_matmul
//
// Shapes: a, [m, k], was rendezvoused by the group, or is a part of such a tensor, the same part on
// all ranks; bs, [k, n] each, are of any memory. The types are as in MatMul; a product has the type
// of its factors, bf16 for f8e4m3. Scales has the scales of a, and the scales of each of bs. Scales
// of a by row are given for the rows of all members, or for m rows: then they are rendezvoused like
// a, and are gathered too.
//
// Synchronises: collective over the group and ordered on the stream: copies begin when all members
// have come to the call, and the stream's next work may overwrite a.
//
// Options: *Group (by default the group that allocated a), *Stream, Timeout, Scales, TransposedB.
//
// Capture: refused, because results are allocated: capture [Runtime.AllGatherMatMulOut].
//
// Errors: KindMisuse for an a that the group has not rendezvoused, and as MatMul; and the errors of
// waits.
func (rt *Runtime) AllGatherMatMul(a *Tensor, bs []*Tensor, opts ...Option) (all *Tensor, products []*Tensor) {
	rt.core.Usable(operators.AllGatherMatMul.Name, a)
	return rt.allGatherMatMul(a, bs, nil, nil, opts)
}

// AllGatherMatMulOut is [Runtime.AllGatherMatMul] into all and products.
//
// PyTorch: fused_all_gather_matmul
//
// Shapes: as [Runtime.AllGatherMatMul]; all has the type of a and the rows of all members, and each
// of products as many rows. If all is symmetric and rendezvoused by the group, a may be an ordinary
// tensor, or this member's part of all; otherwise a and all do not overlap. products overlap no
// other tensor; products of f16 and bf16 may be f32, products of f8e4m3 f16 or f32.
//
// Synchronises: as [Runtime.AllGatherMatMul].
//
// Options: as [Runtime.AllGatherMatMul].
//
// Capture: yes; the copies and the products of a graph follow each other on its stream. Scales of m
// rows are refused, because all rows' are allocated.
//
// Errors: as [Runtime.AllGatherMatMul]; KindMisuse for an all or products of other types or shapes,
// or that overlap.
func (rt *Runtime) AllGatherMatMulOut(a *Tensor, bs []*Tensor, all *Tensor, products []*Tensor, opts ...Option) {
	rt.core.Usable(operators.AllGatherMatMul.Name, a, all)
	rt.core.Usable(operators.AllGatherMatMul.Name, products...)
	if products == nil {
		products = []*Tensor{}
	}
	rt.allGatherMatMul(a, bs, all, products, opts)
}

func (rt *Runtime) allGatherMatMul(a *Tensor, bs []*Tensor, all *Tensor, products []*Tensor, opts []Option) (*Tensor, []*Tensor) {
	of := operators.AllGatherMatMul
	rt.core.Usable(of.Name, bs...)
	home := a
	if all != nil && !a.Symmetric() {
		home = all
	}
	c := rt.core.NewCall(of, core.Operand(home).Home(), opts)
	if len(bs) == 0 {
		panic(c.Misuse("bs", "AllGather gathers rows alone", "there is no factor"))
	}
	f := factorsOf(&c, a, "bs", bs...)
	g := c.Group()
	world, n, m := g.Size(), a.Bytes(), f.rows(a)
	f.checkGathered(a, bs, all, products, world*m)
	sharded := f.checkScalesOf(a, bs, m, world)
	c.Record.DType, c.Record.N = element.Type(a.DType()), a.Numel()
	if len(bs) > 1 {
		c.Record.Detail = fmt.Sprintf("by %d factors", len(bs))
	}

	defer c.Enter().Leave()
	staged := all != nil && (core.Operand(a).Overlaps(all) || !c.Maps(a))
	shared := a
	if staged {
		shared = all
	}
	from := c.Mapped(shared)
	c.Record.On(shared)
	var scalesFrom core.Copies
	if sharded {
		scalesFrom = c.Mapped(f.scaleA)
		c.Record.On(f.scaleA)
	}
	c.PickStream()
	if all == nil {
		all = c.Fresh(a.DType(), []int{world * m, f.k}, world*a.Numel())
		for _, b := range bs {
			cols := f.columns("bs", b)
			products = append(products, c.Fresh(productType(a.DType()), []int{world * m, cols}, world*m*cols))
		}
	}
	if m == 0 {
		return all, products
	}
	l := c.Lanes()
	rank := g.Rank()
	at := func(p int) device.Ptr { return core.Operand(all).Addr() + device.Ptr(p*n) }
	if staged && at(rank) != core.Operand(a).Addr() && n > 0 {
		c.Copy(at(rank), core.Operand(a).Addr(), n)
	}
	ofScales := m * F32.Size()
	if sharded {
		mine := f.scaleA
		f.scaleA = c.Fresh(F32, []int{world * m}, world*m)
		c.Touch(mine)
		c.Copy(core.Operand(f.scaleA).Addr()+device.Ptr(rank*ofScales), core.Operand(mine).Addr(), ofScales)
	}
	l.Begin(append(append(append([]*Tensor{a, all}, bs...), products...), f.scales()...)...)
	way := ""
	multiply := func(p int, rows device.Ptr) {
		for i, b := range bs {
			size := m * f.columns("bs", b) * products[i].DType().Size()
			if size > 0 {
				l.Product()
				way = rt.multiply(&f, products[i], core.Operand(products[i]).Addr()+device.Ptr(p*size), rows, m, b, f.scale(i), p*m).Path
			}
		}
	}
	multiply(rank, core.Operand(a).Addr())
	for i := 1; i < world; i++ {
		p := (rank + i) % world
		src := from.At(p)
		if staged {
			src += device.Ptr(p * n)
		}
		if n > 0 {
			l.Copy(device.Copy{Dst: at(p), Src: src, N: n})
		}
		if sharded {
			l.Copy(device.Copy{Dst: core.Operand(f.scaleA).Addr() + device.Ptr(p*ofScales), Src: scalesFrom.At(p), N: ofScales})
		}
		l.Copied()
		multiply(p, at(p))
	}
	if !staged && n > 0 {
		l.Copy(device.Copy{Dst: at(rank), Src: core.Operand(a).Addr(), N: n})
	}
	l.End()
	c.Chose(n, lanesWay(l, way))
	return all, products
}

// checkGathered refuses an all or products that do not fit a gathered to so many rows and its
// factors. Without all there are no products.
func (f *factors) checkGathered(a *Tensor, bs []*Tensor, all *Tensor, products []*Tensor, rows int) {
	if all == nil {
		return
	}
	g := f.Group()
	if all.DType() != a.DType() || all.Numel() != rows*f.k {
		panic(f.Misuse("all", "", "all is %v, expected out shape %v", core.Operand(all).Brief(),
			element.Type(a.DType()).Shaped([]int{rows, f.k})))
	}
	if own := core.Operand(a).Addr() == core.Operand(all).Addr()+device.Ptr(g.Rank()*a.Bytes()); !own && core.Operand(a).Overlaps(all) {
		panic(f.Misuse("all", "", "all overlaps a elsewhere than in this member's part"))
	}
	if len(products) != len(bs) {
		panic(f.Misuse("products", "give one for each factor", "there are %d factors, and %d tensors for their products", len(bs),
			len(products)))
	}
	for i, p := range products {
		f.checkOut(p, a, rows, f.columns("bs", bs[i]))
		others := append([]*Tensor{a, all}, bs...)
		for _, t := range append(others, products[:i]...) {
			if core.Operand(p).Overlaps(t) {
				panic(f.Misuse("products", "give it memory of its own", "a product overlaps another tensor of the call"))
			}
		}
	}
}

// checkScalesOf checks the scales of rows that are gathered. It reports whether the scales of a are
// for this member's m rows only, so that they have to be gathered too.
func (f *factors) checkScalesOf(a *Tensor, bs []*Tensor, m, world int) (sharded bool) {
	if f.Has(operators.Scales) && len(f.Scales().B) > 0 && world > 1 {
		s := f.Scales()
		sharded = s.A.Numel() == m && (m > 1 || s.B[0].Numel() > 1)
	}
	f.checkScales(a, world*m, bs, sharded)
	return sharded
}

// productType is the type of a product of factors of a type, where the call does not say.
func productType(d DType) DType {
	if d == F8E4M3 {
		return BF16
	}
	return d
}

// lanesWay is the way of a call whose products go by a library or a kernel.
func lanesWay(l *core.Lanes, product string) *tuning.Way {
	if l.Single() {
		return &tuning.Way{Path: "copy engines and products by " + product + " in turns", Why: "a graph that is captured has one stream"}
	}
	return &tuning.Way{Path: "copy engines beside products by " + product,
		Why: "each member's part is multiplied while another one's is copied"}
}

// MatMulReduceScatter multiplies a and b, adds up the members' products element by element, and
// returns this member's rows of the sum as an ordinary tensor. A member multiplies the rows of one
// member after the other, and copy engines bring the products to that member while the next rows
// are multiplied; a kernel adds them up. The result has the same bits as that of MatMul and
// ReduceScatter if a product does not depend on the number of rows: see AllGatherMatMul. op is
// "sum", or "avg", the sum divided once; every step rounds to the type of the products unless
// AccumulateF32 is given. The first call of a group, and a call that needs more memory than the
// calls before, makes memory for the pieces, for which the members meet on the host.
//
// PyTorch: fused_matmul_reduce_scatter with scatter_dim=0; with Scales
// fused_scaled_matmul_reduce_scatter
//
// Shapes: a, [m, k], and b, [k, n], are of any memory and of the types of MatMul; the number of
// members divides m. The result, [m/members, n], has the type of the factors, bf16 for f8e4m3.
//
// Synchronises: collective over the group and ordered on the stream.
//
// Options: *Group (by default the group that allocated a), *Stream, Timeout, AccumulateF32, Scales,
// TransposedB.
//
// Capture: refused, because the result is allocated: capture [Runtime.MatMulReduceScatterOut].
//
// Errors: KindMisuse as MatMul, for another op, and for rows that the number of members does not
// divide; and the errors of waits.
func (rt *Runtime) MatMulReduceScatter(a, b *Tensor, op string, opts ...Option) *Tensor {
	return rt.matMulReduceScatter(a, b, op, nil, opts)
}

// MatMulReduceScatterOut is [Runtime.MatMulReduceScatter] into out.
//
// PyTorch: fused_matmul_reduce_scatter
//
// Shapes: as [Runtime.MatMulReduceScatter]; out has the shape of its result, is of any memory and
// overlaps neither a nor b. Of f16 and bf16 it may be f32, of f8e4m3 f16 or f32: that is then the
// type of the products.
//
// Synchronises: as [Runtime.MatMulReduceScatter].
//
// Options: as [Runtime.MatMulReduceScatter].
//
// Capture: yes, once the group has made a call that needs as much memory; the copies and the
// products of a graph follow each other on its stream.
//
// Errors: as [Runtime.MatMulReduceScatter]; KindMisuse for an out of another type or shape, or that
// overlaps a factor.
func (rt *Runtime) MatMulReduceScatterOut(a, b *Tensor, op string, out *Tensor, opts ...Option) {
	rt.core.Usable(operators.MatMulReduceScatter.Name, out)
	rt.matMulReduceScatter(a, b, op, out, opts)
}

func (rt *Runtime) matMulReduceScatter(a, b *Tensor, op string, out *Tensor, opts []Option) *Tensor {
	of := operators.MatMulReduceScatter
	rt.core.Usable(of.Name, a, b)
	r := reduction{Call: rt.core.NewCall(of, core.Operand(a).Home(), opts)}
	f := factorsOf(&r.Call, a, "b", b)
	world, m, n := r.Group().Size(), f.rows(a), f.columns("b", b)
	if op != "sum" && op != "avg" {
		panic(r.Misuse("op", "", `the reduction must be "sum" or "avg", not %q`, op))
	}
	if m%world != 0 {
		panic(r.Misuse("a", "pad it with rows of zeros", "dimension 0 of %v is not divisible by the %d ranks of %v",
			core.Operand(a).Brief(), world, r.Group()))
	}
	rows, dtype := m/world, productType(a.DType())
	if out != nil {
		f.checkOut(out, a, rows, n)
		if core.Operand(out).Overlaps(a) || core.Operand(out).Overlaps(b) {
			panic(r.Misuse("out", "", "out overlaps a factor"))
		}
		dtype = out.DType()
	}
	f.checkScales(a, m, []*Tensor{b}, false)
	r.reduce(operators.MatMulReduceScatter, dtype, m*n, op)
	size := rows * n * dtype.Size()
	slot := (size + 255) &^ 255
	var box [2]func(member, slot int) device.Ptr // of pieces that arrived, by sender, and of pieces that leave, by receiver
	if world > 1 && size > 0 {
		at := r.Box(2 * world * slot)
		for i := range box {
			box[i] = func(member, s int) device.Ptr { return at[member] + device.Ptr((i*world+s)*slot) }
		}
	}
	defer r.Enter().Leave()
	r.PickStream()
	if out == nil {
		out = r.Fresh(dtype, []int{rows, n}, rows*n)
	}
	if size == 0 {
		return out
	}
	l := r.Lanes()
	head := l.Begin(append([]*Tensor{a, b, out}, f.scales()...)...)
	multiply := func(p int, to device.Ptr) string {
		first := core.Operand(a).Addr() + device.Ptr(p*rows*f.k*a.DType().Size())
		l.Product()
		return rt.multiply(&f, out, to, first, rows, b, f.scale(0), p*rows).Path
	}
	rank, way := r.Group().Rank(), ""
	if world == 1 {
		way = multiply(0, core.Operand(out).Addr())
		l.End()
		r.Chose(m*n*dtype.Size(), lanesWay(l, way))
		return out
	}
	for i := 1; i < world; i++ {
		p := (rank + i) % world
		multiply(p, box[1](rank, p))
		l.Calculated()
		l.Copy(device.Copy{Dst: box[0](p, rank), Src: box[1](rank, p), N: size})
	}
	way = multiply(rank, box[0](rank, rank))
	l.End()
	r.addUp(func(p int) device.Ptr { return box[0](rank, p) }, core.Operand(out).Addr(), rows*n, head)
	l.Calculated()
	r.Chose(m*n*dtype.Size(), lanesWay(l, way))
	return out
}
