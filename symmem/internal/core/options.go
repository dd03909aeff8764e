package symmem

import "time"

// Option is an optional last argument of an operation: a *Group, a *Stream, a [Timeout], for reductions
// [AccumulateF32] and [SplitLastDim], for AllGather and AllToAll [CopyEngine], for AllToAllVDev2D [MajorAlign], for PutWithSignal
// and SignalAdd [Weak], for collectives over hosts and puts [Via], for dispatches and combines of tokens [Into]. All operations on a stream take the first three, also those that wait for nobody; other options that an operation has no use for are refused.
type Option interface{ option() OptionSet }

// OptionSet is a set of sorts of options. Those that are on or off are options themselves.
type OptionSet uint16

const (
	WithGroup OptionSet = 1 << iota
	WithStream
	WithTimeout
	WithAccumulateF32
	WithSplitLastDim
	WithCopyEngine
	WithMajorAlign
	WithWeak
	WithVia
	WithInto
	WithLibrary // of operations that take Via("NCCL"), too

	Ordered = WithGroup | WithStream | WithTimeout // of operations on a stream
)

func (*Group) option() OptionSet      { return WithGroup }
func (*Stream) option() OptionSet     { return WithStream }
func (Timeout) option() OptionSet     { return WithTimeout }
func (MajorAlign) option() OptionSet  { return WithMajorAlign }
func (Via) option() OptionSet         { return WithVia }
func (Into) option() OptionSet        { return WithInto }
func (s OptionSet) option() OptionSet { return s }

// words name one sort of option and say what takes it.
func (s OptionSet) words() (name, of string) {
	switch s {
	case WithGroup:
		return "a *Group", "what a group does"
	case WithStream:
		return "a *Stream", "what is put in a stream"
	case WithTimeout:
		return "Timeout", "operations that wait on the device"
	case WithAccumulateF32:
		return "AccumulateF32", "reductions without multicast"
	case WithSplitLastDim:
		return "SplitLastDim", "ReduceScatter"
	case WithWeak:
		return "Weak", "PutWithSignal and SignalAdd"
	case WithVia:
		return "Via", "AllReduce, ReduceScatter, AllGather, AllToAll, AllToAllVDev and its relatives, Broadcast, Put and PutWithSignal"
	case WithInto:
		return "Into", "TokenSwitch.Dispatch, DispatchSend and Combine"
	case WithCopyEngine:
		return "CopyEngine", "AllGather and AllToAll"
	}
	return "MajorAlign", "AllToAllVDev2D"
}

type (
	Timeout    time.Duration
	MajorAlign int
	Via        string
	Into       struct{ Tensor *Tensor }
)

// The ways of a collective as Via: in a group that spans hosts, and the last in any. Puts take the last alone.
const (
	Flat         Via = "flat"
	Hierarchical Via = "hierarchical"
	ViaNCCL      Via = "NCCL"
)

// options are the options of one call.
type options struct {
	group   *Group
	stream  *Stream
	timeout time.Duration
	align   int // MajorAlign
	via     Via // empty if it was left out
	into    *Tensor
	given   OptionSet
}

func (o *options) has(s OptionSet) bool { return o.given&s != 0 }

// accept adds an option to those of a call that takes the sorts of taken.
func (rt *Runtime) accept(op string, o *options, taken OptionSet, opt Option) {
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
		if v == nil || v.rt == nil {
			panic(rt.isNil(op, "stream"))
		}
		o.stream = v
	case Timeout:
		if v <= 0 {
			panic(rt.misuse(op, "Timeout", "leave it out to wait without end", "a timeout must be positive, not %v", time.Duration(v)))
		}
		o.timeout = time.Duration(v)
	case MajorAlign:
		o.align = int(v)
	case Into:
		rt.live(op, v.Tensor)
		o.into = v.Tensor
	case Via:
		if v == ViaNCCL && taken&WithLibrary == 0 {
			panic(rt.misuse(op, "Via", "leave it out", "NCCL does not do this operation"))
		}
		if v != Flat && v != Hierarchical && v != ViaNCCL {
			panic(rt.misuse(op, "Via", "", "the ways are \"flat\", \"hierarchical\" and \"NCCL\", not %q", string(v)))
		}
		o.via = v
	}
}

// read collects in o the options of a call on group g, the default; fixed says that the call cannot have another
// one.
func (rt *Runtime) read(o *options, op string, g *Group, fixed bool, taken OptionSet, opts []Option) {
	o.group = g
	for _, opt := range opts {
		rt.accept(op, o, taken, opt)
	}
	if o.group == nil || o.group.rt == nil {
		panic(rt.isNil(op, "group"))
	}
	if fixed && o.group != g {
		panic(rt.misuse(op, "group", "rendezvous the tensor in that group", "this handle belongs to %v, not %v", g, o.group))
	}
	if o.group.rt != rt {
		panic(rt.misuse(op, "group", "give a group of this world", "the group belongs to another world"))
	}
	o.group.check(op)
}

// groupOf reads the options of a call that takes a *Group alone.
func (rt *Runtime) groupOf(op string, g *Group, opts []Option) *Group {
	var o options
	rt.read(&o, op, g, false, WithGroup, opts)
	return o.group
}
