package symmem

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Tensor is a contiguous array in device memory, row-major. Slice and View share its memory.
type Tensor struct {
	rt     *Runtime
	st     *storage
	dtype  DType
	shape  []int // never changed
	offset int   // bytes from the storage's start
	n      int   // elements
}

// numel checks a dtype and shape and returns the number of elements.
func (rt *Runtime) numel(op string, dtype DType, shape []int) int {
	if !dtype.element().Valid() {
		panic(rt.misuse(op, "dtype", dtypeFirst(op, dtype, shape), "%v is not an element type", dtype))
	}
	n := 1
	for _, d := range shape {
		if d < 0 {
			panic(rt.misuse(op, "shape", "", "dimensions must not be negative, not %v", shape))
		}
		if d > 0 && n > math.MaxInt/16/d {
			panic(rt.misuse(op, "shape", "", "%v is too large", shape))
		}
		n *= d
	}
	return n
}

// dtypeFirst returns the hint for a value that is no element type. It may be the first dimension of
// a shape: a constant fits both.
func dtypeFirst(op string, dtype DType, shape []int) string {
	switch op {
	case "Empty", "Local", "Host":
		return fmt.Sprintf("the element type is the first argument: symm.%s(symm.F32, %s)", op,
			strings.ReplaceAll(places.Joined(append([]int{int(dtype)}, shape...)), ",", ", "))
	}
	return "give one such as symm.F32"
}

// DType is the type of the elements.
func (t *Tensor) DType() DType {
	t.exists("DType")
	return t.dtype
}

// Shape is the size of each dimension.
func (t *Tensor) Shape() []int {
	t.exists("Shape")
	return slices.Clone(t.shape)
}

// Numel is the number of elements.
func (t *Tensor) Numel() int {
	t.exists("Numel")
	return t.n
}

// Bytes is the size of the elements in bytes.
func (t *Tensor) Bytes() int {
	t.exists("Bytes")
	return t.n * t.dtype.Size()
}

// Ptr is the address of the first element on the device.
func (t *Tensor) Ptr() uintptr {
	t.usable("Ptr")
	if a := t.st.alloc; a != nil {
		a.shown.Store(true)
	}
	return uintptr(t.pointer())
}

func (t *Tensor) pointer() device.Ptr { return t.st.ptr + device.Ptr(t.offset) }

// Symmetric reports whether peers can map the tensor: it came from Empty.
func (t *Tensor) Symmetric() bool {
	t.exists("Symmetric")
	return t.st.alloc != nil && t.st.own == nil
}

// Memory returns the kind of the tensor's memory: "symmetric" or "ordinary" memory of this rank,
// pinned memory of the "host", memory "of rank 2", as of a tensor of Handle.GetBuffer, or "freed".
func (t *Tensor) Memory() string {
	t.exists("Memory")
	switch {
	case t.st.isFreed():
		return "freed"
	case t.st.peer != t.rt.rank:
		return fmt.Sprintf("of rank %d", t.st.peer)
	case t.st.alloc != nil:
		return "symmetric"
	case t.st.block != nil && t.st.block.Host != nil:
		return "host"
	}
	return "ordinary"
}

// Slice is the part [lo, hi) of the first dimension. It shares memory.
func (t *Tensor) Slice(lo, hi int) *Tensor {
	const op = "Slice"
	t.usable(op)
	if len(t.shape) == 0 {
		panic(t.rt.misuse(op, "", "", "a tensor without dimensions cannot be sliced"))
	}
	if lo < 0 || hi < lo || hi > t.shape[0] {
		panic(t.rt.misuse(op, "bounds", "", "[%d, %d) is not within the first dimension of %d", lo, hi, t.shape[0]))
	}
	row := 0
	if t.shape[0] > 0 {
		row = t.n / t.shape[0]
	}
	s := *t
	s.shape = slices.Clone(t.shape)
	s.shape[0] = hi - lo
	s.n = (hi - lo) * row
	s.offset += lo * row * t.dtype.Size()
	return &s
}

// View is the same elements under another shape. One dimension may be -1: it follows from the
// others.
func (t *Tensor) View(shape ...int) *Tensor {
	const op = "View"
	t.usable(op)
	shape = slices.Clone(shape)
	if i := slices.Index(shape, -1); i >= 0 {
		shape[i] = 1
		if rest := t.rt.numel(op, t.dtype, shape); rest > 0 {
			shape[i] = t.n / rest
		}
	}
	if n := t.rt.numel(op, t.dtype, shape); n != t.n {
		panic(t.rt.misuse(op, "shape", "give as many", "%v has %s, the tensor %v has %d", shape, count.Of(n, "element"), t.shape, t.n))
	}
	v := *t
	v.shape = shape
	return &v
}

// As is a view of the same bytes as elements of another type. The last dimension becomes shorter if the
// elements become larger, or longer if they become smaller; its bytes must be a whole number of the new
// elements. It shares memory.
func (t *Tensor) As(dtype DType) *Tensor {
	const op = "As"
	t.usable(op)
	t.rt.numel(op, dtype, nil)
	last := len(t.shape) - 1
	if last < 0 || t.shape[last]*t.dtype.Size()%dtype.Size() != 0 || int(t.pointer())%dtype.Size() != 0 {
		panic(t.rt.misuse(op, "dtype", "make that dimension longer by View",
			"the last dimension of %v at address %#x does not divide into elements of %v", t.kind(), t.pointer(), dtype))
	}
	v := *t
	v.dtype = dtype
	v.shape = slices.Clone(t.shape)
	v.shape[last] = t.shape[last] * t.dtype.Size() / dtype.Size()
	v.n = t.Bytes() / dtype.Size()
	return &v
}

// giveBack frees a tensor in ordinary memory.
func (t *Tensor) giveBack() {
	if t.st.freed.CompareAndSwap(false, true) {
		t.st.stop.Stop()
		t.rt.giveBlock(t.st.block, t.rt.calls.Caller())
	}
}

// exists refuses a nil tensor.
func (t *Tensor) exists(op string) {
	if t == nil || t.st == nil {
		panic(nilArgument(op, "tensor"))
	}
}

// usable refuses tensors that cannot be used any more, or belong to another world.
func (rt *Runtime) usable(op string, tensors ...*Tensor) {
	rt.refuseClosed(op)
	for _, t := range tensors {
		t.usable(op)
		if t.rt != rt {
			panic(rt.misuse(op, "tensor", "copy it through the host, as by CopyFrom(x.Float64s())",
				"the tensor %v belongs to another world", t.kind()))
		}
	}
}

// usable refuses a tensor that cannot be used any more.
func (t *Tensor) usable(op string) {
	t.exists(op)
	t.rt.refuseClosed(op)
	a := t.st.alloc
	if t.st.isFreed() {
		panic(t.rt.misuse(op, "tensor", "", "the tensor %v was freed", t.kind()))
	}
	if t.st.peer != t.rt.rank {
		a.usable(op)
	}
}

// kind is "bf16[4, 1024]".
func (t *Tensor) kind() string { return t.dtype.element().Shaped(t.shape) }

// home is the group that an operation on t uses by default: the group that allocated it.
func (rt *Runtime) home(t *Tensor) *Group {
	if a := t.st.alloc; a != nil {
		return a.group
	}
	return rt.all
}
