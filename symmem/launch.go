package symmem

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"

	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// GridSize is the blocks of a launch, made by [Grid].
type GridSize struct{ dims []int }

// BlockSize is the threads of a block, made by [Block].
type BlockSize struct{ dims []int }

// joined writes dimensions: "4,2".
func joined(dims []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(dims), " ", ","), "[]")
}

// Grid is the number of blocks of a launch: one to three dimensions. Launch refuses others, and
// numbers that the device cannot take.
func Grid(dims ...int) GridSize { return GridSize{dims} }

// Block is the number of threads of a block: one to three dimensions. Launch refuses others, and
// numbers that the device cannot take.
func Block(dims ...int) BlockSize { return BlockSize{dims} }

// String is, for example, "grid 8" or "grid 8,2".
func (g GridSize) String() string { return "grid " + joined(g.dims) }

// String is, for example, "block 256" or "block 16,16".
func (b BlockSize) String() string { return "block " + joined(b.dims) }

// SharedBytes asks for dynamic shared memory for each block of a launch. Launch refuses values that
// the device does not support.
func SharedBytes(n int) Shared { return Shared(n) }

// Shared is an amount of dynamic shared memory, made by [SharedBytes].
type Shared int

// Launch runs the kernel on the current stream. args are the kernel's arguments in order: a tensor
// of the pointee's type (any for void* and unsigned char*) or a uintptr for a pointer, a tensor for a
// parameter that [Kernel.Symmetric] declared symmetric, a *Handle for a symm::Handle, a *DeviceComm
// for a ncclDevComm, a *DeviceWindow for a ncclWindow_t, a Go integer that fits for an integer, a
// float32 or float64 for a floating type, which rounds it, or an integer that the type holds exactly,
// a bool, and for a struct of the text a Go struct, array or slice of numbers that has as many bytes,
// such as []uintptr{…} for a struct of pointers. Among them may be options: SharedBytes, *Stream, and
// [Timeout] for the waits of handles. Everything is checked against the kernel's signature before
// anything is launched.
//
// A kernel that receives a handle or a communicator, or includes nvshmem.h, communicates: it is
// ordered after the group's other communication, and all ranks that it meets must launch it. One
// that was compiled with NCCL's own nccl_device.h makes the group's communicator of NCCL if Recover
// ended it, for which the members meet on the host.
func (k *Kernel) Launch(grid GridSize, block BlockSize, args ...any) {
	k.exists("Launch")
	k = k.toLaunch()
	rt := k.rt
	l := device.Launch{Grid: k.dims("grid", grid.dims, rt.info.MaxGrid), Block: k.dims("block", block.dims, rt.info.MaxBlock),
		Shared: k.shared}
	p := packer{Call: rt.core.OwnCall(k.d.Name()), k: k, data: make([]byte, k.bytes)}
	for _, a := range args {
		switch v := a.(type) {
		case Shared:
			l.Shared = int(v)
		case *Stream, core.Timeout:
			p.Accept(operators.Stream|operators.Timeout, v.(Option))
		default:
			p.add(a)
		}
	}
	k.checkSizes(&l)
	if n := len(k.params); p.n != n {
		panic(p.Misuse("", "", "%s takes %d arguments, not %d", k.sig, n, p.n))
	}
	l.Args = p.data
	p.sameGroup()
	if len(p.handles)+len(p.comms)+len(p.placed) > 0 || k.module.shmem {
		p.Record.Manner = operators.Communicating
	}
	if len(p.handles) > 0 {
		p.Record.Refused = refusedRemote
	}
	defer p.Enter().Leave()
	p.PickStream()
	groups := p.place()
	rt.core.Usable(p.Op(), p.tensors...)
	p.Touch(p.tensors...)
	p.check()
	for _, g := range groups {
		p.Join(g)
	}
	for i, h := range p.handles {
		arg := p.k.rt.core.HandleArgument(p.Op(), h)
		groups = append(groups, h.Group())
		p.TouchHandle(h)
		arg.Context = p.Join(h.Group())
		arg.Context.Unannounced = 1
		copy(p.data[k.layout[p.places[i]].Offset:], launch.Bytes(&arg))
	}
	for i, c := range p.comms {
		arg := p.k.rt.core.CommArgument(p.Op(), c)
		groups = append(groups, c.Group())
		p.TouchComm(c)
		arg.Context = p.Join(c.Group())
		arg.Context.Unannounced = 1
		if k.module.library != "" {
			continue // its argument is NCCL's
		}
		copy(p.data[k.layout[p.comm[i]].Offset:], launch.Bytes(&arg))
	}
	for _, w := range p.windows {
		p.k.rt.core.WindowArgument(p.Op(), w)
		p.TouchHandle(w.Handle())
	}
	if k.module.shmem {
		groups = append(groups, p.JoinShmem(&k.module.source))
	}
	p.LaunchSnippet(k.d, l, groups, p.tensors)
	if k.module.library != "" {
		p.WatchNative(groups)
	}
	p.explain()
	runtime.KeepAlive(args)
}

// explain notes for Explain which nccl_device.h the kernel has, where there are two.
func (p *packer) explain() {
	m, bytes := p.k.module, 0
	for _, w := range p.windows {
		bytes += w.Handle().BufferSize()
	}
	switch {
	case len(p.comms) == 0:
	case m.library != "":
		p.Chose(bytes, &tuning.Way{Path: m.library + "'s nccl_device.h", Why: "the back end is NCCL"})
	case m.why != "":
		p.Chose(bytes, &tuning.Way{Path: "symmrepl's nccl_device.h", Why: m.why})
	}
}

func (k *Kernel) dims(what string, dims []int, limit [3]int) [3]int {
	out := [3]int{1, 1, 1}
	if len(dims) < 1 || len(dims) > 3 {
		panic(k.rt.core.Misuse(k.d.Name(), what, "", "the %s has one to three dimensions, not %d", what, len(dims)))
	}
	for i, n := range dims {
		if n < 1 || n > limit[i] {
			panic(k.rt.core.Misuse(k.d.Name(), what, "", "dimension %d of the %s must be in [1, %d], not %d", i+1, what, limit[i], n))
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
		panic(rt.core.Misuse(op, "block", "", "%d threads are more than the %d that %s", n, most, why))
	}
	if k.block != [3]int{} && l.Block != k.block {
		panic(rt.core.Misuse(op, "block", fmt.Sprintf("launch it with symm.Block(%s)", shortest(k.block)),
			"the kernel was compiled for blocks of %s threads, not of %s", shortest(k.block), shortest(l.Block)))
	}
	if l.Shared < 0 {
		panic(rt.core.Misuse(op, "SharedBytes", "", "the shared memory must not be negative, not %d", l.Shared))
	}
	if n := l.Shared + a.StaticShared; n > rt.info.SharedPerBlock {
		panic(rt.core.Misuse(op, "SharedBytes", "", "%d bytes of shared memory are more than the %d that a block may have", n,
			rt.info.SharedPerBlock))
	}
}

// shortest writes dimensions without the ones at the end: "128".
func shortest(dims [3]int) string {
	n := 3
	for n > 1 && dims[n-1] == 1 {
		n--
	}
	return joined(dims[:n])
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
		return "the tensor " + core.Operand(v).Brief()
	case *Handle:
		return "a handle"
	case *DeviceComm:
		return "a " + v.String()
	case *DeviceWindow:
		return "a " + v.String()
	}
	if v := reflect.ValueOf(a); v.CanInt() || v.CanUint() || v.CanFloat() || v.Kind() == reflect.Bool {
		return fmt.Sprintf("%T %v", a, a)
	}
	return fmt.Sprintf("a %T", a)
}
