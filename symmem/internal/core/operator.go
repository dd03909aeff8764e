package symmem

import (
	"slices"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// Operators are in the package above, and need more of tensors, groups and streams than programs see. They get it from their
// Call, and from the functions of this file: methods would be the programs' too.

// NewCall checks the options of a call of an operator on a group, by default g.
func NewCall(rt *Runtime, of *operators.Operator, g *Group, opts []Option) Call {
	return rt.newCall(of, g, opts)
}

// OwnCall is a call without options that concerns this rank alone.
func OwnCall(rt *Runtime, op string) Call { return rt.ownCall(op) }

// Live refuses tensors that cannot be used any more, belong to another world, or are nil.
func Live(rt *Runtime, op string, tensors ...*Tensor) { rt.live(op, tensors...) }

// MustCompute refuses a tensor of a type that kernels do no arithmetic on.
func MustCompute(op string, t *Tensor) { t.mustCompute(op) }

// Home is the group that an operation on t uses by default: the one that allocated it, or all ranks.
func Home(t *Tensor) *Group { return t.rt.home(t) }

// Addr is where t begins on the device.
func Addr(t *Tensor) device.Ptr { return t.pointer() }

// Dims is the shape of t itself, which must not be changed.
func Dims(t *Tensor) []int { return t.shape }

// Brief is "bf16[4, 1024]".
func Brief(t *Tensor) string { return t.kind() }

// BriefOf is Brief of a tensor that need not exist.
func BriefOf(dtype DType, shape []int) string { return kindOf(dtype, shape) }

// Overlap reports whether two tensors share bytes.
func Overlap(a, b *Tensor) bool { return overlap(a, b) }

// Computes reports whether kernels do arithmetic on a type.
func Computes(d DType) bool { return d.element().Computes() }

// IsFloat reports whether a type is a float.
func IsFloat(d DType) bool { return d.element().IsFloat() }

// ArgumentOf is what a kernel gets for a handle, but for the words of the call, after a check that it can be used.
func ArgumentOf(op string, h *Handle) abi.Handle {
	h.usable(op)
	if h.kernel.Net == 0 {
		h.g.reachAll(op, "")
	}
	if n := len(h.g.ranks); n > abi.MaxRanks {
		panic(h.g.rt.misuse(op, "handle", "Rendezvous in its LSA or Rail team", "a kernel takes handles of groups of at most %d ranks, %v has %d", abi.MaxRanks, h.g, n))
	}
	return h.kernel
}

// Held is the bytes of device memory that a world holds: tensors, memory kept for the next ones, and groups.
func Held(rt *Runtime) int { return rt.held() }

// Tensors is the number of symmetric tensors that are alive and whole, and the bytes of their data on this rank.
func Tensors(rt *Runtime) (n, size int) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	for _, a := range rt.allocs {
		if a.stale.Load() == nil && !a.storage.freed.Load() {
			n, size = n+1, size+a.size
		}
	}
	return n, size
}

// OpenFailure explains why a device could not be opened for a rank.
func OpenFailure(rank int, err error) *Error { return (&Runtime{rank: rank}).failure("Init", err) }

// Misuse refuses a call on rt that is not ordered on a stream.
func Misuse(rt *Runtime, op, arg, hint, format string, args ...any) *Error {
	return rt.misuse(op, arg, hint, format, args...)
}

// NilArgument refuses a receiver or argument that is nil where no world is known.
func NilArgument(op, arg string) *Error { return nilArgument(op, arg) }

// RefuseClosed refuses a call after rt was closed.
func RefuseClosed(rt *Runtime, op string) { rt.refuseClosed(op) }

// Failure turns an error of the layers below into one in the user's words.
func Failure(rt *Runtime, op string, err error) *Error { return rt.failure(op, err) }

// Copies is where the members have their copies of a tensor.
type Copies struct {
	h *Handle
	t *Tensor
}

// At is where member i of the group has its copy.
func (c Copies) At(i int) device.Ptr { return c.h.at(i, c.t) }

// Size is the bytes that the members allocated for the tensor and what it is a part of.
func (c Copies) Size() int { return c.h.t.st.size }

// Window is where members on other hosts have theirs: a window and the offset in it.
func (c Copies) Window() (id uint32, at uint64) { return c.h.kernel.Window, uint64(c.t.offset) }

// Multicast is the address of all copies at once, 0 where there is none.
func (c Copies) Multicast() device.Ptr { return device.Ptr(c.h.MulticastPtr()) }

// Op is the name of the call's operation.
func (c *Call) Op() string { return c.Record.op }

// Group is the group that the call is made on.
func (c *Call) Group() *Group { return c.opts.group }

// Work is the memory that the call's group communicates through.
func (c *Call) Work() *Workspace { return &c.opts.group.work }

// Plan is how the device is best used.
func (c *Call) Plan() *tuning.Plan { return c.rt.plan }

// Device describes the device.
func (c *Call) Device() *device.Info { return &c.rt.info }

// Has reports whether an option was given.
func (c *Call) Has(s operators.Options) bool { return c.opts.has(s) }

// MajorAlign is the value of that option.
func (c *Call) MajorAlign() int { return c.opts.align }

// Into is the tensor of that option, nil if it was not given.
func (c *Call) Into() *Tensor { return c.opts.into }

// Accept adds an option to a call that takes these sorts.
func (c *Call) Accept(taken operators.Options, opt Option) {
	c.rt.accept(&operators.Operator{Name: c.Record.op, Options: taken}, &c.opts, opt)
}

// Member checks a rank of the group, the value of the argument arg.
func (c *Call) Member(arg string, rank int) { c.opts.group.peer(c.Record.op, arg, rank) }

// Maps reports whether t is symmetric and its copies are known in the call's group. The call has entered.
func (c *Call) Maps(t *Tensor) bool { return t.Symmetric() && t.st.alloc.mapping(c.opts.group) != nil }

// Copy copies n bytes in the order of the stream.
func (c *Call) Copy(dst, src device.Ptr, n int) { c.issued(c.stream.copy(dst, src, n)) }

// Issue lets f put work in the device's stream.
func (c *Call) Issue(f func(device.Stream) error) { c.issued(c.stream.issue(f)) }

// Scratch is n bytes of the stream's own, for what runs on it alone; 0 while a graph is captured. All calls on streams ask
// for the same n.
func (c *Call) Scratch(n int) device.Ptr { return c.stream.scratch(c.Record.op, n) }

// TouchHandle is Touch for the handle's tensor.
func (c *Call) TouchHandle(h *Handle) { c.Touch(h.t) }

// LaunchSnippet issues a kernel of the user's, which uses the signals of groups, and tensors.
func (c *Call) LaunchSnippet(k device.Kernel, l device.Launch, groups []*Group, tensors []*Tensor) {
	c.rt.calls.launched(k.Name())
	if slices.ContainsFunc(groups, (*Group).wiredUp) {
		c.rt.posting.Store(true)
		for _, t := range tensors {
			if b := t.st.block; b != nil {
				b.Posted = true
			}
		}
		c.rt.hold(c.Record.op, c.stream)
	}
	if err := c.stream.launch(k, l); err != nil {
		panic(c.rt.failure(c.Record.op, err))
	}
	for _, g := range groups {
		g.mark(c.Record.op, c.stream)
	}
}

// maxArgs is the most bytes of a built-in kernel's arguments.
const maxArgs = 4 << 10

// ArgsOf is a place for the arguments of the kernel that an admitted call launches, so that a call allocates nothing. The
// group's calls share it; a launch reads it before the next call enters.
func ArgsOf[T any](c *Call) *T {
	var t T
	if unsafe.Sizeof(t) > maxArgs {
		panic("symmem: the arguments of a kernel are too long")
	}
	return (*T)(unsafe.Pointer(c.opts.group.args))
}

// MeetingBlocks is the most blocks of a kernel in which blocks of the same index of all members meet: the same on all members.
func MeetingBlocks(g *Group) int { return min(g.rt.plan.MeetBlocks, g.work.Processors) }
