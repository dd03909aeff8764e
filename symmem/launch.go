package symmem

import (
	"fmt"
	"reflect"
	"runtime"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// GridSize is the blocks of a launch, made by [Grid].
type GridSize struct{ dims []int }

// BlockSize is the threads of a block, made by [Block].
type BlockSize struct{ dims []int }

// Grid is the number of blocks of a launch: one to three dimensions.
func Grid(dims ...int) GridSize { return GridSize{dims} }

// Block is the number of threads of a block: one to three dimensions.
func Block(dims ...int) BlockSize { return BlockSize{dims} }

// SharedBytes asks for dynamic shared memory for each block of a launch.
func SharedBytes(n int) Shared { return Shared(n) }

// Shared is an amount of dynamic shared memory, made by [SharedBytes].
type Shared int

// Launch runs the kernel on the current stream. args are the kernel's arguments in order: a tensor of the
// pointee's type (any for void* and unsigned char*) or a uintptr for a pointer, a *Handle for a symm::Handle,
// a Go integer that fits for an integer, a float32 or float64 for a floating type, a bool. Among them may be
// options: SharedBytes, *Stream, and [Timeout] for the waits of handles. Everything is checked against the
// kernel's signature before anything is launched.
//
// A kernel that receives a handle communicates: it is ordered after the group's other communication, and all
// ranks that it meets must launch it.
func (k *Kernel) Launch(grid GridSize, block BlockSize, args ...any) {
	rt, op := k.rt, k.d.Name()
	l := device.Launch{Grid: k.dims("grid", grid.dims, rt.info.MaxGrid), Block: k.dims("block", block.dims, rt.info.MaxBlock)}
	p := packer{k: k, op: op, opts: options{group: rt.all}}
	for _, a := range args {
		switch v := a.(type) {
		case Shared:
			l.Shared = int(v)
		case *Stream, timeout:
			rt.accept(op, &p.opts, aStream|aTimeout, v.(Option))
		default:
			p.add(a)
		}
	}
	k.checkSizes(&l)
	if n := len(k.params); p.n != n {
		panic(rt.misuse(op, "", "", "%s takes %d arguments, %d were given", k.sig, n, p.n))
	}
	c := call{rt: rt, opts: p.opts, record: callRecord{op: op}}
	if len(p.handles) > 0 {
		c.record.manner = communicating
	}
	defer c.enter().leave()
	c.begin()
	for _, t := range p.tensors {
		t.live(op)
	}
	c.touch(p.tensors...)
	for i, h := range p.handles {
		h.usable(op)
		c.touch(h.t)
		args := h.kernel
		args.context = c.join(h.g)
		copy(p.data[k.d.Params()[p.places[i]].Offset:], bytesOf(&args))
	}
	l.Args = p.data
	rt.calls.launched(op)
	if err := c.stream.launch(k.d, l); err != nil {
		panic(rt.failure(op, err))
	}
	for _, h := range p.handles {
		h.g.mark(op, c.stream)
	}
	runtime.KeepAlive(args)
}

func (k *Kernel) dims(what string, dims []int, limit [3]int) [3]int {
	out := [3]int{1, 1, 1}
	if len(dims) < 1 || len(dims) > 3 {
		panic(k.rt.misuse(k.d.Name(), what, "", "the %s has one to three dimensions, not %d", what, len(dims)))
	}
	for i, n := range dims {
		if n < 1 || n > limit[i] {
			panic(k.rt.misuse(k.d.Name(), what, "", "dimension %d of the %s must be in [1, %d], not %d", i+1, what, limit[i], n))
		}
		out[i] = n
	}
	return out
}

// checkSizes refuses more threads or shared memory than there is.
func (k *Kernel) checkSizes(l *device.Launch) {
	rt, op, a := k.rt, k.d.Name(), k.d.Attributes()
	most, why := rt.info.MaxThreads, "a block may have"
	if a.MaxThreads > 0 && a.MaxThreads < most {
		most, why = a.MaxThreads, "a block of this kernel may have, because of its registers or its launch bounds"
	}
	if n := l.Block[0] * l.Block[1] * l.Block[2]; n > most {
		panic(rt.misuse(op, "block", "", "%d threads are more than the %d that %s", n, most, why))
	}
	if l.Shared < 0 {
		panic(rt.misuse(op, "SharedBytes", "", "the shared memory must not be negative, not %d", l.Shared))
	}
	if n := l.Shared + a.StaticShared; n > rt.info.SharedPerBlock {
		panic(rt.misuse(op, "SharedBytes", "", "%d bytes of shared memory are more than the %d that a block may have", n, rt.info.SharedPerBlock))
	}
}

// describe names a value for a message: "float64 2.5".
func describe(a any) string {
	switch v := a.(type) {
	case nil:
		return "nil"
	case *Tensor:
		if v == nil {
			return "a nil tensor"
		}
		return "the tensor " + v.kind()
	case *Handle:
		return "a handle"
	}
	if v := reflect.ValueOf(a); v.CanInt() || v.CanUint() || v.CanFloat() || v.Kind() == reflect.Bool {
		return fmt.Sprintf("%T %v", a, a)
	}
	return fmt.Sprintf("a %T", a)
}
