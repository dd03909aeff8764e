package symmem

import "time"

// Option is an optional last argument of an operation: a *Group, a *Stream, a [Timeout], for reductions
// [AccumulateF32] and [SplitLastDim], for AllGather and AllToAll [CopyEngine], for AllToAllVDev2D [MajorAlign]. All operations on
// a stream take the first three, also those that wait for nobody; other options that an operation has no use for are refused.
type Option interface{ option() optionSet }

// optionSet is a set of sorts of options. Those that are on or off are options themselves.
type optionSet uint8

const (
	aGroup optionSet = 1 << iota
	aStream
	aTimeout
	accumulateF32
	splitLastDim
	copyEngine
	anAlign

	ordered = aGroup | aStream | aTimeout // of operations on a stream
)

func (*Group) option() optionSet      { return aGroup }
func (*Stream) option() optionSet     { return aStream }
func (timeout) option() optionSet     { return aTimeout }
func (majorAlign) option() optionSet  { return anAlign }
func (s optionSet) option() optionSet { return s }

// words name one sort of option and say what takes it.
func (s optionSet) words() (name, of string) {
	switch s {
	case aGroup:
		return "a *Group", "what a group does"
	case aStream:
		return "a *Stream", "what is put in a stream"
	case aTimeout:
		return "Timeout", "operations that wait on the device"
	case accumulateF32:
		return "AccumulateF32", "reductions without multicast"
	case splitLastDim:
		return "SplitLastDim", "ReduceScatter"
	case copyEngine:
		return "CopyEngine", "AllGather and AllToAll"
	}
	return "MajorAlign", "AllToAllVDev2D"
}

type timeout time.Duration

// options are the options of one call.
type options struct {
	group   *Group
	stream  *Stream
	timeout time.Duration
	align   int // MajorAlign
	given   optionSet
}

func (o *options) has(s optionSet) bool { return o.given&s != 0 }

// accept adds an option to those of a call that takes the sorts of taken.
func (rt *Runtime) accept(op string, o *options, taken optionSet, opt Option) {
	if opt == nil {
		panic(rt.misuse(op, "", "leave it out", "an option is nil"))
	}
	sort := opt.option()
	if sort&^taken != 0 {
		name, of := sort.words()
		panic(rt.misuse(op, name, "leave it out", "%s is an option of %s", name, of))
	}
	o.given |= sort
	switch v := opt.(type) {
	case *Group:
		o.group = v
	case *Stream:
		if v == nil {
			panic(rt.misuse(op, "stream", "", "the stream is nil"))
		}
		o.stream = v
	case timeout:
		if v < 0 {
			panic(rt.misuse(op, "Timeout", "", "a timeout must be positive, not %v", time.Duration(v)))
		}
		o.timeout = time.Duration(v)
	case majorAlign:
		o.align = int(v)
	}
}

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
func (rt *Runtime) read(op string, g *Group, fixed bool, taken optionSet, opts []Option) options {
	o := options{group: g}
	for _, opt := range opts {
		rt.accept(op, &o, taken, opt)
	}
	if o.group == nil {
		panic(rt.misuse(op, "group", "", "the group is nil"))
	}
	if fixed && o.group != g {
		panic(rt.misuse(op, "group", "rendezvous the tensor in that group", "this handle belongs to %v, not %v", g, o.group))
	}
	o.group.check(op)
	return o
}
