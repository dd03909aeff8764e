package symmem

import (
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Operand is a tensor as operators see it: core.Operand(t).Addr(). A method of Tensor would be the
// programs' too.
type Operand = *operand

type operand Tensor

// Addr returns the address of the tensor on the device.
func (o *operand) Addr() device.Ptr { return (*Tensor)(o).pointer() }

// Dims is the shape of the tensor itself, which must not be changed.
func (o *operand) Dims() []int { return o.shape }

// Brief is "bf16[4, 1024]".
func (o *operand) Brief() string { return (*Tensor)(o).kind() }

// Home is the group that an operation on the tensor uses by default: the group that allocated it, or
// all ranks.
func (o *operand) Home() *Group { return o.rt.home((*Tensor)(o)) }

// Overlaps reports whether the tensor shares bytes with another one.
func (o *operand) Overlaps(t *Tensor) bool {
	a, b := (*Tensor)(o), t
	return a.pointer() < b.pointer()+device.Ptr(b.Bytes()) && b.pointer() < a.pointer()+device.Ptr(a.Bytes())
}

// MustMultiply refuses a tensor of a type that MatMul has no kernel for.
func (o *operand) MustMultiply(op string) {
	(*Tensor)(o).mustCompute(op)
	if !o.dtype.element().Reduces() {
		panic(o.rt.misuse(op, "tensor", "convert it, as by x.Convert(symm.I32)", "matrices of %v are not multiplied", o.dtype))
	}
}

// Parts returns a view of a complex tensor as its real and imaginary parts, in a last dimension of 2,
// and a view of Bool as U8.
func (o *operand) Parts() *Tensor {
	v := Tensor(*o)
	if d := v.dtype.element(); d.IsComplex() {
		v.dtype = DType(d.Part())
		v.shape, v.n = append(slices.Clone(v.shape), 2), 2*v.n
	} else if v.dtype == Bool {
		v.dtype = U8
	}
	return &v
}

// Whole is the inverse of Parts: the elements of dtype that o has the parts of.
func (o *operand) Whole(dtype DType) *Tensor {
	v := Tensor(*o)
	v.dtype = dtype
	if dtype.element().IsComplex() {
		v.shape, v.n = slices.Clone(v.shape[:len(v.shape)-1]), v.n/2
	}
	return &v
}

// Copies are the members' copies of a tensor.
type Copies struct {
	m *mapping
	t *Tensor
}

// At is the address of the copy of member i of the group.
func (c Copies) At(i int) device.Ptr { return c.m.at(i, c.t) }

// Size is the bytes of the whole allocation that the tensor is a part of.
func (c Copies) Size() int { return c.m.a.size }

// Window locates the copies of members on other hosts: a window and the offset in it.
func (c Copies) Window() (id uint32, at uint64) { return c.m.kernel.Window, uint64(c.t.offset) }

// Multicast is the address of all copies at once, 0 where there is none or the device emulates it.
func (c Copies) Multicast() device.Ptr {
	if c.m.all == 0 {
		return 0
	}
	return c.m.all - device.Ptr(c.m.offset) + device.Ptr(c.t.offset)
}

// MulticastWhy returns the reason why the tensor has no multicast address; "" if it has one or
// needs none. The call that mapped it has entered.
func (c Copies) MulticastWhy() string {
	if _, ok := c.m.g.rt.dev.(device.MulticastDevice); !ok {
		return ""
	}
	cast := c.m.a.multicasts[c.m.g]
	switch {
	case cast == nil:
		return "memory of a memory pool has none"
	case cast.m == nil:
		return cast.why
	}
	return ""
}
