package symmem

import (
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// oneBlock is a launch of a single block of a kernel that begins with symm::begin.
func oneBlock(threads int) device.Launch {
	return device.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{threads, 1, 1}, Overlap: true}
}

// channel checks a channel of the group's signal block.
func (h *Handle) channel(op string, channel int) {
	if channel < 0 {
		panic(h.g.rt.misuse(op, "channel", "", "the channel must be non-negative, not %d", channel))
	}
	if channel >= h.g.channels {
		panic(h.g.rt.misuse(op, "channel", "SetSignalPadSize before NewGroup gives a group more",
			"channel %d is above the maximum supported channel %d of %v", channel, h.g.channels-1, h.g))
	}
}

// Barrier makes the streams of all members meet.
//
// PyTorch: barrier of the handle
//
// Shapes: channel is below [Group.Channels].
//
// Synchronises: collective over the group and ordered on the stream: what any member's stream did before is
// visible to all after.
//
// Options: *Stream, Timeout.
//
// Capture: yes.
//
// Errors: KindMisuse for a channel out of range; and what ends a wait.
func (h *Handle) Barrier(channel int, opts ...Option) {
	const op = "barrier"
	c := h.newCall(op, collective, opts)
	h.channel(op, channel)
	defer c.enter().leave()
	c.begin()
	c.launch("barrier", 0, oneBlock(32), bytesOf(&barrierArgs{c.admit(), h.g.work.signals, uint64(channel)}))
}

// PutSignal signals the member dst on a channel, after everything this stream did before. Signals belong to the
// group: they may be awaited through any handle of it.
//
// PyTorch: put_signal of the handle
//
// Shapes: channel is below [Group.Channels].
//
// Synchronises: ordered on the stream. If dst has not consumed the previous signal of this rank on that channel,
// the stream waits until it has.
//
// Options: *Stream, Timeout.
//
// Capture: yes.
//
// Errors: KindMisuse for a dst or a channel out of range; and what ends a wait.
func (h *Handle) PutSignal(dst, channel int, opts ...Option) {
	h.signal("put_signal", "dst", dst, channel, opts)
}

// WaitSignal makes the stream wait for a signal of the member src on a channel and consumes it.
//
// PyTorch: wait_signal of the handle
//
// Shapes: channel is below [Group.Channels].
//
// Synchronises: ordered on the stream: what src did before its PutSignal is visible to what this stream does
// after.
//
// Options: *Stream, Timeout.
//
// Capture: yes.
//
// Errors: KindMisuse for a src or a channel out of range; and what ends a wait.
func (h *Handle) WaitSignal(src, channel int, opts ...Option) {
	h.signal("wait_signal", "src", src, channel, opts)
}

// signal is PutSignal and WaitSignal, whose kernels are named like the operations.
func (h *Handle) signal(op, arg string, peer, channel int, opts []Option) {
	c := h.newCall(op, signalling, opts)
	h.g.peer(op, arg, peer)
	h.channel(op, channel)
	defer c.enter().leave()
	c.begin()
	c.launch(op, 0, oneBlock(1), bytesOf(&signalArgs{c.admit(), h.g.work.signals, uint32(peer), uint32(channel)}))
}

// Put copies src into dst's copy of the tensor, from its start. It does not tell dst: follow it by PutSignal or
// Barrier, or use PutWithSignal.
//
// PyTorch: nvshmem_put; get_buffer and copy_
//
// Shapes: src has the type of the tensor and may be shorter.
//
// Synchronises: ordered on the stream; nobody is waited for.
//
// Options: *Stream.
//
// Capture: yes.
//
// Errors: KindMisuse for a dst out of range, a src of another type or that is too long.
func (h *Handle) Put(dst int, src *Tensor, opts ...Option) {
	const op = "put"
	c := h.newCall(op, alone, opts)
	h.g.peer(op, "dst", dst)
	h.fits(op, "src", src)
	h.move(&c, src, h.kernel.buffers[dst], src.pointer(), src.Bytes())
}

// Get copies the start of src's copy of the tensor into dst, as much as dst takes. It does not wait for src:
// precede it by WaitSignal or Barrier.
//
// PyTorch: nvshmem_get; get_buffer and copy_
//
// Shapes: dst has the type of the tensor and may be shorter.
//
// Synchronises: ordered on the stream; nobody is waited for.
//
// Options: *Stream.
//
// Capture: yes.
//
// Errors: KindMisuse for a src out of range, a dst of another type or that is too long.
func (h *Handle) Get(src int, dst *Tensor, opts ...Option) {
	const op = "get"
	c := h.newCall(op, alone, opts)
	h.g.peer(op, "src", src)
	h.fits(op, "dst", dst)
	h.move(&c, dst, dst.pointer(), h.kernel.buffers[src], dst.Bytes())
}

// fits checks that a tensor can be copied to or from the start of the handle's own.
func (h *Handle) fits(op, arg string, t *Tensor) {
	rt := h.g.rt
	t.live(op)
	if t.dtype != h.t.dtype {
		panic(rt.misuse(op, arg, "", "%s is %v, the handle's tensor is %v", arg, t.kind(), h.t.kind()))
	}
	if t.n > h.t.n {
		panic(rt.misuse(op, arg, "", "%s has %d elements, the handle's tensor %d", arg, t.n, h.t.n))
	}
}

// move copies n bytes between t and a member's copy of the handle's tensor.
func (h *Handle) move(c *call, t *Tensor, dst, src device.Ptr, n int) {
	defer c.enter().leave()
	c.begin()
	c.admit(t, h.t)
	c.issued(c.stream.copy(dst, src, n))
}

// putCopies is the size from which PutWithSignal leaves the copy to the copy engine.
const putCopies = 64 << 10

// PutWithSignal copies src into dst's copy of the tensor, from its start, and then sets 64-bit word sig of dst's
// signal pad of the tensor to val.
//
// PyTorch: nvshmem_put_with_signal
//
// Shapes: src has the type of the tensor and may be shorter; sig is within the signal pad.
//
// Synchronises: ordered on the stream: whoever sees the word sees the data. Nobody is waited for.
//
// Options: *Stream.
//
// Capture: yes.
//
// Errors: as [Handle.Put]; KindMisuse for a sig out of range.
func (h *Handle) PutWithSignal(dst int, src *Tensor, sig int, val uint64, opts ...Option) {
	const op = "put_with_signal"
	c := h.newCall(op, alone, opts)
	h.g.peer(op, "dst", dst)
	h.fits(op, "src", src)
	h.word(op, sig)
	args := putWithSignalArgs{
		dst: h.kernel.buffers[dst], src: src.pointer(), n: uint64(src.Bytes()),
		word: h.kernel.pads[dst] + device.Ptr(8*sig), value: val,
	}
	defer c.enter().leave()
	c.begin()
	c.admit(src, h.t)
	if args.n >= putCopies {
		c.issued(c.stream.copy(args.dst, args.src, int(args.n)))
		args.n = 0
	}
	c.launch(op, 0, oneBlock(min(max(32, (int(args.n/16)+31)&^31), 512)), bytesOf(&args))
}

// WaitForSignal makes the stream wait until 64-bit word sig of this rank's signal pad of the tensor equals val
// (cmp "==") or is not below it (">="). The word keeps its value.
//
// PyTorch: nvshmem_wait_for_signal
//
// Shapes: sig is within the signal pad.
//
// Synchronises: ordered on the stream: what was put before the word is visible to what this stream does after.
//
// Options: *Stream, Timeout.
//
// Capture: yes.
//
// Errors: KindMisuse for a sig out of range or another cmp; and what ends a wait.
func (h *Handle) WaitForSignal(sig int, cmp string, val uint64, opts ...Option) {
	const op = "wait_for_signal"
	c := h.newCall(op, waiting, opts)
	h.word(op, sig)
	var atLeast uint32
	switch cmp {
	case "==":
	case ">=":
		atLeast = 1
	default:
		panic(c.misuse("cmp", "", `the comparison must be "==" or ">=", not %q`, cmp))
	}
	defer c.enter().leave()
	c.begin()
	c.launch(op, 0, oneBlock(1), bytesOf(&waitForSignalArgs{c.admit(h.t), h.kernel.pads[h.g.rank] + device.Ptr(8*sig), val, uint32(sig), atLeast}))
}

// word checks the index of a 64-bit word of the tensor's signal pad.
func (h *Handle) word(op string, sig int) {
	if n := int(h.kernel.padBytes) / 8; sig < 0 || sig >= n {
		panic(h.g.rt.misuse(op, "sig", "SetSignalPadSize before Empty gives a tensor more", "the signal must be in [0, %d), not %d", n, sig))
	}
}
