package symmem

import "time"

// Option is an optional last argument of an operation: a *Group, a *Stream or a [Timeout].
type Option interface{ option() }

func (*Group) option()  {}
func (*Stream) option() {}
func (timeout) option() {}

type timeout time.Duration

// options are the options of one call.
type options struct {
	group   *Group
	stream  *Stream
	timeout time.Duration
}

func (o *options) set(opt Option) {
	switch v := opt.(type) {
	case *Group:
		o.group = v
	case *Stream:
		o.stream = v
	case timeout:
		o.timeout = time.Duration(v)
	}
}

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
