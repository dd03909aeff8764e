package symmem

import (
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
)

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
// Synchronises: collective over the group and ordered on the stream: the earlier work of each
// member's stream is visible to the later work of all.
//
// Options: *Stream, Timeout, [Via]("NVSHMEM"): by NVSHMEM's signals, in the group of all ranks and
// with the back end NVSHMEM; all members give it.
//
// Capture: yes, but for NVSHMEM's way.
//
// Errors: KindMisuse for a channel out of range, NVSHMEM's way where it has none; and the errors of
// waits.
func (h *Handle) Barrier(channel int, opts ...Option) {
	op := operators.Barrier.Name
	c := h.newCall(operators.Barrier, opts)
	h.channel(op, channel)
	h.carry(c, passage{index: channel})
}

// PutSignal signals the member dst on a channel, after everything this stream did before. Signals
// belong to the group: they may be awaited through any handle of it.
//
// PyTorch: put_signal of the handle
//
// Shapes: channel is below [Group.Channels].
//
// Synchronises: ordered on the stream. If dst has not consumed the previous signal of this rank on
// that channel, the stream waits until it has.
//
// Options: *Stream, Timeout, [Via]("NVSHMEM"): nvshmemx_signal_op_on_stream, in the group of all ranks
// and with the back end NVSHMEM. Such signals are counted, so that the stream does not wait for the
// previous one to be consumed, and only WaitSignal by NVSHMEM sees them.
//
// Capture: yes.
//
// Errors: KindMisuse for a dst or a channel out of range, NVSHMEM's way where it has none; and the
// errors of waits.
func (h *Handle) PutSignal(dst, channel int, opts ...Option) {
	h.signal(operators.PutSignal, "dst", dst, channel, opts)
}

// WaitSignal makes the stream wait for a signal of the member src on a channel and consumes it.
//
// PyTorch: wait_signal of the handle
//
// Shapes: channel is below [Group.Channels].
//
// Synchronises: ordered on the stream: the work of src before its PutSignal is visible to this
// stream's later work.
//
// Options: *Stream, Timeout, [Via]("NVSHMEM"): nvshmemx_signal_wait_until_on_stream, for a signal by
// NVSHMEM.
//
// Capture: yes, but for NVSHMEM's way.
//
// Errors: KindMisuse for a src or a channel out of range, NVSHMEM's way where it has none; and the
// errors of waits.
func (h *Handle) WaitSignal(src, channel int, opts ...Option) {
	h.signal(operators.WaitSignal, "src", src, channel, opts)
}

// signal is PutSignal and WaitSignal.
func (h *Handle) signal(of *operators.Operator, arg string, peer, channel int, opts []Option) {
	op := of.Name
	c := h.newCall(of, opts)
	h.g.peer(op, arg, peer)
	h.channel(op, channel)
	h.carry(c, passage{peer: peer, index: channel})
}

// WaitForSignal makes the stream wait until 64-bit word sig of this rank's signal pad of the tensor
// equals val (cmp "==") or is not below it (">="). The word keeps its value. Any member may set it:
// in a group that spans hosts the wait ends with an error when a member on another host is gone and
// the value has not come.
//
// PyTorch: nvshmem_wait_for_signal, nccl_wait_for_signal
//
// Shapes: sig is within the signal pad.
//
// Synchronises: ordered on the stream: data that was put before the word is visible to this
// stream's later work.
//
// Options: *Stream, Timeout, [Via]("NVSHMEM"): nvshmemx_signal_wait_until_on_stream, with the back
// end NVSHMEM. The member that sets the word may do so by NVSHMEM or not.
//
// Capture: yes, but for NVSHMEM's way.
//
// Errors: KindMisuse for a sig out of range or another cmp, NVSHMEM's way where it has none; and the
// errors of waits.
func (h *Handle) WaitForSignal(sig int, cmp string, val uint64, opts ...Option) {
	op := operators.WaitForSignal.Name
	c := h.newCall(operators.WaitForSignal, opts)
	h.word(op, sig)
	if cmp != "==" && cmp != ">=" {
		panic(c.Misuse("cmp", "", `the comparison must be "==" or ">=", not %q`, cmp))
	}
	h.carry(c, passage{index: sig, val: val, atLeast: cmp == ">="})
}

// word checks the index of a 64-bit word of the tensor's signal pad.
func (h *Handle) word(op string, sig int) {
	if n := int(h.kernel.PadBytes) / 8; sig < 0 || sig >= n {
		panic(h.g.rt.misuse(op, "sig", "SetSignalPadSize before Empty gives a tensor more",
			"the signal must be in [0, %d), not %d", n, sig))
	}
}

// GetSignal returns 64-bit word sig of this rank's signal pad of the tensor, once the current
// stream has come to rest. It cannot be captured: a stream waits for a word by WaitForSignal.
func (h *Handle) GetSignal(sig int) uint64 {
	const op = "get_signal"
	h.usable(op)
	h.word(op, sig)
	pad := h.view(op, h.g.rank, h.pads, int(h.kernel.PadBytes), 0, U64, []int{int(h.kernel.PadBytes) / 8})
	return pad.dtype.element().BitsAt(pad.Slice(sig, sig+1).read(op, 1), 0)
}

// SignalAdd adds n to 64-bit word sig of dst's signal pad of the tensor.
//
// PyTorch: nvshmemx_signal_op with NVSHMEM_SIGNAL_ADD
//
// Shapes: sig is within the signal pad.
//
// Synchronises: ordered on the stream. Unless [Weak] is given, a kernel or wait that sees the word
// sees this rank's earlier puts to dst. It waits for no other rank.
//
// Options: *Stream, Weak, [Via]("NVSHMEM"): nvshmemx_signal_op_on_stream, with the back end NVSHMEM.
//
// Capture: yes.
//
// Errors: KindMisuse for a dst or a sig out of range, NVSHMEM's way where it has none.
func (h *Handle) SignalAdd(dst, sig int, n uint64, opts ...Option) {
	op := operators.SignalAdd.Name
	c := h.newCall(operators.SignalAdd, opts)
	h.g.peer(op, "dst", dst)
	h.word(op, sig)
	h.carry(c, passage{peer: dst, index: sig, val: n})
}

// ResetSignal sets 64-bit word sig of this rank's signal pad of the tensor to 0. A peer must not
// set the word at the same time: let it know first, by a Barrier.
//
// PyTorch: none; the wait of NVSHMEM's operations leaves the word to the program too
//
// Shapes: sig is within the signal pad.
//
// Synchronises: ordered on the stream; it waits for no other rank.
//
// Options: *Stream.
//
// Capture: yes.
//
// Errors: KindMisuse for a sig out of range.
func (h *Handle) ResetSignal(sig int, opts ...Option) {
	op := operators.ResetSignal.Name
	c := h.newCall(operators.ResetSignal, opts)
	h.word(op, sig)
	defer c.Enter().Leave()
	c.PickStream()
	c.Admit(h.t)
	c.issued(c.stream.set0(h.signalWord(sig), 8))
}
