package symmem

import (
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
)

// Option is an optional last argument of an operation. The package above describes each option;
// package operators lists the options of each operation.
type Option interface{ option() operators.Options }

// Flag is an option that is given or not.
type Flag operators.Options

func (*Group) option() operators.Options     { return operators.Group }
func (*Stream) option() operators.Options    { return operators.Stream }
func (Timeout) option() operators.Options    { return operators.Timeout }
func (MajorAlign) option() operators.Options { return operators.MajorAlign }
func (Via) option() operators.Options        { return operators.Via }
func (Into) option() operators.Options       { return operators.Into }
func (Shard) option() operators.Options      { return operators.Shard }
func (Along) option() operators.Options      { return operators.Along }
func (Scales) option() operators.Options     { return operators.Scales }
func (f Flag) option() operators.Options     { return operators.Options(f) }

type (
	Timeout    time.Duration
	MajorAlign int
	Via        string
	Into       struct{ Tensor *Tensor }
	Shard      int
	Along      int
	Scales     struct {
		A *Tensor
		B []*Tensor
	}
)

// The ways of a collective as Via: in a group that spans hosts, and NCCL in any. Puts take the
// libraries alone, and other operations of handles NVSHMEM.
const (
	Flat         Via = "flat"
	Hierarchical Via = "hierarchical"
	ViaNCCL      Via = "NCCL"
	ViaNVSHMEM   Via = "NVSHMEM"
)

// options are the options of one call.
type options struct {
	group   *Group
	stream  *Stream
	timeout time.Duration
	align   int // MajorAlign
	via     Via // empty if it was left out
	into    *Tensor
	shard   int
	along   int
	scales  Scales
	given   operators.Options
}

func (o *options) has(s operators.Options) bool { return o.given&s != 0 }

// accept adds an option to the options of a call of an operator.
func (rt *Runtime) accept(of *operators.Operator, o *options, opt Option) {
	op := of.Name
	if opt == nil {
		panic(rt.misuse(op, "", "leave it out", "an option is nil"))
	}
	sort := opt.option()
	if sort&^of.Options != 0 {
		panic(rt.misuse(op, sort.String(), "leave it out", "%v is an option of %s", sort, sort.Of()))
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
	case Shard:
		o.shard = int(v)
	case Along:
		o.along = int(v)
	case Scales:
		rt.usable(op, v.A)
		rt.usable(op, v.B...)
		o.scales = v
	case Into:
		rt.usable(op, v.Tensor)
		o.into = v.Tensor
	case Via:
		switch w := rt.carrierOf(v); {
		case w == nil:
			all := rt.ways("and", func(carrier) bool { return true })
			panic(rt.misuse(op, "Via", "", "the ways are %s, not %q", all, string(v)))
		case !w.Does(of):
			panic(rt.misuse(op, "Via", "leave it out", "%s does not do this operation", string(v)))
		}
		o.via = v
	}
}

// read collects the options of a call in o. g is the default group; if fixed is set the call cannot
// have another group.
func (rt *Runtime) read(o *options, of *operators.Operator, g *Group, fixed bool, opts []Option) {
	op := of.Name
	o.group = g
	for _, opt := range opts {
		rt.accept(of, o, opt)
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
	o.group.usable(op)
}

// groupOf reads the options of a call whose only option is a *Group.
func (rt *Runtime) groupOf(op string, g *Group, opts []Option) *Group {
	var o options
	rt.read(&o, &operators.Operator{Name: op, Options: operators.Group}, g, false, opts)
	return o.group
}
