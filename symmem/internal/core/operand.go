package symmem

import "github.com/symmrepl/symmrepl/symmem/internal/device"

// Operand is a tensor as operators see it: core.Operand(t).Addr(). A method of Tensor would be the
// programs' too.
type Operand = *operand

type operand Tensor

// Addr is where the tensor begins on the device.
func (o *operand) Addr() device.Ptr { return (*Tensor)(o).pointer() }

// Dims is the shape of the tensor itself, which must not be changed.
func (o *operand) Dims() []int { return o.shape }

// Brief is "bf16[4, 1024]".
func (o *operand) Brief() string { return (*Tensor)(o).kind() }

// Home is the group that an operation on the tensor uses by default: the one that allocated it, or
// all ranks.
func (o *operand) Home() *Group { return o.rt.home((*Tensor)(o)) }

// Overlaps reports whether the tensor shares bytes with another one.
func (o *operand) Overlaps(t *Tensor) bool {
	a, b := (*Tensor)(o), t
	return a.pointer() < b.pointer()+device.Ptr(b.Bytes()) && b.pointer() < a.pointer()+device.Ptr(a.Bytes())
}

// MustCompute refuses a tensor of a type that kernels do no arithmetic on.
func (o *operand) MustCompute(op string) { (*Tensor)(o).mustCompute(op) }

// Copies are the members' copies of a tensor.
type Copies struct {
	h *Handle
	t *Tensor
}

// At is the address of the copy of member i of the group.
func (c Copies) At(i int) device.Ptr { return c.h.at(i, c.t) }

// Size is the bytes of the whole allocation that the tensor is a part of.
func (c Copies) Size() int { return c.h.t.st.size }

// Window locates the copies of members on other hosts: a window and the offset in it.
func (c Copies) Window() (id uint32, at uint64) { return c.h.kernel.Window, uint64(c.t.offset) }

// Multicast is the address of all copies at once, 0 where there is none or the device emulates it.
func (c Copies) Multicast() device.Ptr {
	if c.h.all == 0 {
		return 0
	}
	return c.h.all - device.Ptr(c.h.t.offset) + device.Ptr(c.t.offset)
}
