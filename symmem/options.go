package symmem

import "time"

// Option is an optional last argument of an operation: a *Group, a *Stream, a [Timeout], for reductions
// [AccumulateF32] and [SplitLastDim], and for AllGather and AllToAll [CopyEngine].
type Option interface{ option() }

func (*Group) option()  {}
func (*Stream) option() {}
func (timeout) option() {}
func (manner) option()  {}

func (majorAlign) option() {}

type timeout time.Duration

// options are the options of one call.
type options struct {
	group   *Group
	stream  *Stream
	timeout time.Duration
	wide    bool // accumulate as f32
	lastDim bool // split the last dimension
	engines bool // copy by copy engines
	align   *int // MajorAlign
}

func (o *options) set(opt Option) {
	switch v := opt.(type) {
	case *Group:
		o.group = v
	case *Stream:
		o.stream = v
	case timeout:
		o.timeout = time.Duration(v)
	case majorAlign:
		n := int(v)
		o.align = &n
	case manner:
		o.wide = o.wide || v == accumulateF32
		o.lastDim = o.lastDim || v == splitLastDim
		o.engines = o.engines || v == copyEngine
	}
}

// manner is an option that is on or off.
type manner int

const (
	accumulateF32 manner = iota
	splitLastDim
	copyEngine
)

// AccumulateF32 makes a reduction of f16 or bf16 add in f32 and round once at the end. Without it every step
// rounds to the element type: the result then is, bit for bit, that of PyTorch's one-shot and two-shot
// kernels.
func AccumulateF32() Option { return accumulateF32 }

// SplitLastDim makes ReduceScatter split the last dimension instead of the first one.
func SplitLastDim() Option { return splitLastDim }

// CopyEngine makes AllGather and AllToAll use no multiprocessor: the members' streams meet by memory operations
// and copy engines read the peers' tensors, so that a kernel which runs beside it on another stream keeps the whole
// GPU. It is slower for small messages. AllToAll then needs t to be symmetric and rendezvoused; AllGather takes
// an ordinary t too when out is. AllGather is best given t as its own part of out: otherwise the driver copies that part
// within the GPU, which what runs beside it slows down. Peers' memory is only read: after a wait that was given up this rank's result is
// undefined, and nothing else. [Explain] tells that it ran. It is what NCCL calls a zero-CTA policy, and PyTorch
// _low_contention_all_gather.
func CopyEngine() Option { return copyEngine }

// Timeout bounds every wait of an operation on the device. Without it waits last until they are satisfied or
// aborted.
func Timeout(d time.Duration) Option { return timeout(d) }

// read collects the options of a call on group g, the default; fixed says that the call cannot have another
// one.
func (rt *Runtime) read(op string, g *Group, fixed bool, opts []Option) options {
	o := options{group: g}
	for _, opt := range opts {
		o.set(opt)
	}
	rt.checkTimeout(op, &o)
	if o.group == nil {
		panic(rt.misuse(op, "group", "", "the group is nil"))
	}
	if fixed && o.group != g {
		panic(rt.misuse(op, "group", "rendezvous the tensor in that group", "this handle belongs to %v, not %v", g, o.group))
	}
	o.group.check(op)
	return o
}

func (rt *Runtime) checkTimeout(op string, o *options) {
	if o.timeout < 0 {
		panic(rt.misuse(op, "Timeout", "", "a timeout must be positive, not %v", o.timeout))
	}
}

// begin admits a stream-ordered operation and picks its stream. rt.mu is held.
func (rt *Runtime) begin(op string, o *options) *Stream {
	if why := rt.abort.Load(); why != nil {
		panic(&Error{Kind: KindInterrupted, Op: op, Rank: rt.rank, Peer: -1, Msg: "refused: " + *why})
	}
	s := rt.current
	if o.stream != nil {
		s = o.stream
	}
	if s.closed.Load() {
		panic(rt.misuse(op, "stream", "", "the stream was freed"))
	}
	if s.rt != rt {
		panic(rt.misuse(op, "stream", "", "the stream belongs to another world"))
	}
	if rt.capture != nil && s != rt.capture.stream {
		panic(rt.misuse(op, "stream", "let the capture use one stream", "another stream is being captured"))
	}
	return s
}
