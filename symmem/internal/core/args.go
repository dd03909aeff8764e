package symmem

import "github.com/symmrepl/symmrepl/symmem/internal/device"

// The arguments of the built-in kernels, as kernels/*.cu and symm.cuh declare them. Each kernel takes one of
// these by value; those of an operation with a file of its own stand there; natural alignment is the same in both languages.

// MaxRanks is the most ranks that a group, and so a world, may have; symm::kMaxRanks in kernels.
const MaxRanks = device.MaxRanks

type Ptrs [MaxRanks]device.Ptr

// kernelContext is symm::Context.
type Context struct {
	watch    device.Ptr
	timeout  uint64 // nanoseconds; 0: until aborted
	rank     int32
	size     int32
	Ordinal  uint32
	Channels uint32
	swaps    uint32
	_        uint32
}

// kernelHandle is symm::Handle.
type KernelHandle struct {
	Context  Context
	bytes    uint64
	padBytes uint64
	buffers  Ptrs
	pads     Ptrs
	signals  Ptrs
}

type barrierArgs struct {
	context Context
	signals Ptrs
	channel uint64
}

// signalArgs is PutSignalArgs and WaitSignalArgs.
type signalArgs struct {
	context       Context
	signals       Ptrs
	peer, channel uint32
}

type putWithSignalArgs struct {
	dst, src device.Ptr
	n        uint64 // bytes
	word     device.Ptr
	value    uint64
}

type waitForSignalArgs struct {
	context Context
	word    device.Ptr
	value   uint64
	index   uint32
	atLeast uint32
}

type fillArgs struct {
	out  device.Ptr
	n    uint64
	bits uint64
	size uint64
}

type arangeArgs struct {
	out device.Ptr
	n   uint64
}

type randArgs struct {
	out  device.Ptr
	n    uint64
	seed uint64
}
