package symmem

import (
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// oneBlock is a launch of a single block of a kernel that begins with symm::begin.
func oneBlock(threads int) device.Launch {
	return device.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{threads, 1, 1}, Overlap: true}
}

// communicate issues a kernel that uses the group's signals: on the stream of o, after what used them before
// on any other stream. args is called with the head of the kernel's arguments. rt.mu is held.
func (rt *Runtime) communicate(c callRecord, kernel string, l device.Launch, o *options, args func(kernelContext) []byte) {
	g := o.group
	s := rt.begin(c.op, o)
	rt.intact(c.op)
	k := rt.builtin(c.op, kernel, 0)
	g.chain(c.op, s)
	l.Args = args(rt.kernelContext(g, o, rt.note(c)))
	if err := s.launch(k, l); err != nil {
		panic(rt.failure(c.op, err))
	}
	g.mark(c.op, s)
}

// intact refuses communication after a collective operation was given up: the ranks' signals may be out of
// step.
func (rt *Runtime) intact(op string) {
	if why := rt.broken.Load(); why != nil {
		panic(&Error{Kind: KindPeer, Op: op, Rank: rt.rank, Peer: -1, Msg: "signals may be out of step since " + *why, Hint: "all ranks must call Recover"})
	}
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
	h.usable(op)
	rt := h.g.rt
	o := rt.read(op, h.g, true, ordered, opts)
	h.channel(op, channel)
	rt.mu.Lock()
	defer rt.mu.Unlock()
	made := callRecord{op: op, group: h.g, collective: true}
	h.g.count(&made)
	rt.communicate(made, "barrier", oneBlock(32), &o, func(c kernelContext) []byte {
		return bytesOf(&barrierArgs{c, h.g.work.signals, uint64(channel)})
	})
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
	h.usable(op)
	rt := h.g.rt
	o := rt.read(op, h.g, true, ordered, opts)
	h.g.peer(op, arg, peer)
	h.channel(op, channel)
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.communicate(callRecord{op: op, group: h.g}, op, oneBlock(1), &o, func(c kernelContext) []byte {
		return bytesOf(&signalArgs{c, h.g.work.signals, uint32(peer), uint32(channel)})
	})
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
	h.usable(op)
	o := h.g.rt.read(op, h.g, true, ordered, opts)
	h.g.peer(op, "dst", dst)
	h.fits(op, "src", src)
	h.move(op, &o, src, h.kernel.buffers[dst], src.pointer(), src.Bytes())
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
	h.usable(op)
	o := h.g.rt.read(op, h.g, true, ordered, opts)
	h.g.peer(op, "src", src)
	h.fits(op, "dst", dst)
	h.move(op, &o, dst, dst.pointer(), h.kernel.buffers[src], dst.Bytes())
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

func (h *Handle) move(op string, o *options, t *Tensor, dst, src device.Ptr, n int) {
	rt := h.g.rt
	rt.mu.Lock()
	defer rt.mu.Unlock()
	s := rt.begin(op, o)
	t.touch(s)
	h.t.touch(s)
	if err := s.copy(dst, src, n); err != nil {
		panic(rt.failure(op, err))
	}
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
	h.usable(op)
	rt := h.g.rt
	o := rt.read(op, h.g, true, ordered, opts)
	h.g.peer(op, "dst", dst)
	h.fits(op, "src", src)
	h.word(op, sig)
	args := putWithSignalArgs{
		dst: h.kernel.buffers[dst], src: src.pointer(), n: uint64(src.Bytes()),
		word: h.kernel.pads[dst] + device.Ptr(8*sig), value: val,
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	s := rt.begin(op, &o)
	src.touch(s)
	h.t.touch(s)
	if args.n >= putCopies {
		if err := s.copy(args.dst, args.src, int(args.n)); err != nil {
			panic(rt.failure(op, err))
		}
		args.n = 0
	}
	l := oneBlock(min(max(32, (int(args.n/16)+31)&^31), 512))
	l.Args = bytesOf(&args)
	if err := s.launch(rt.builtin(op, op, 0), l); err != nil {
		panic(rt.failure(op, err))
	}
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
	h.usable(op)
	rt := h.g.rt
	o := rt.read(op, h.g, true, ordered, opts)
	h.word(op, sig)
	var atLeast uint32
	switch cmp {
	case "==":
	case ">=":
		atLeast = 1
	default:
		panic(rt.misuse(op, "cmp", "", `the comparison must be "==" or ">=", not %q`, cmp))
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	s := rt.begin(op, &o)
	h.t.touch(s)
	c := rt.kernelContext(h.g, &o, rt.note(callRecord{op: op, group: h.g}))
	l := oneBlock(1)
	l.Args = bytesOf(&waitForSignalArgs{c, h.kernel.pads[h.g.rank] + device.Ptr(8*sig), val, uint32(sig), atLeast})
	if err := s.launch(rt.builtin(op, op, 0), l); err != nil {
		panic(rt.failure(op, err))
	}
}

// word checks the index of a 64-bit word of the tensor's signal pad.
func (h *Handle) word(op string, sig int) {
	if n := int(h.kernel.padBytes) / 8; sig < 0 || sig >= n {
		panic(h.g.rt.misuse(op, "sig", "SetSignalPadSize before Empty gives a tensor more", "the signal must be in [0, %d), not %d", n, sig))
	}
}
