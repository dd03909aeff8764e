package symmem

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Lanes are the two streams of a call whose copies run beside its kernels: the stream of the call,
// where its kernels go, and the world's stream of copies, where the members meet and copy engines
// work. While a graph is captured both are the stream of the call.
type Lanes struct {
	c    *Call
	main *Stream
	side *Stream
	id   uint32 // of the call
}

// beside has the stream of copies and the event that orders it; both are nil until a call needs them.
type beside struct {
	side *Stream
	turn device.Event
}

// Lanes returns the lanes of a call that has picked its stream.
func (c *Call) Lanes() *Lanes {
	rt := c.rt
	l := &Lanes{c: c, main: c.stream, side: c.stream}
	c.apart = true
	c.opts.group.chain(c.Record.Op, c.stream) // the call may store where peers read
	if rt.capture != nil {
		return l
	}
	if rt.beside.side == nil {
		d, err := rt.dev.NewStream()
		if err != nil {
			panic(rt.failure(c.Record.Op, err))
		}
		rt.beside.side = rt.adopt(d)
	}
	if rt.beside.turn == nil {
		var err error
		if rt.beside.turn, err = rt.dev.NewEvent(); err != nil {
			panic(rt.failure(c.Record.Op, err))
		}
	}
	l.side = rt.beside.side
	l.order(l.side, l.main) // the latest call may have had another stream
	return l
}

// Single reports whether both lanes are one.
func (l *Lanes) Single() bool { return l.main == l.side }

// Begin commits the call with the tensors that its copies and its kernels use. The members' streams
// of copies meet; they begin when the earlier work of the calls' streams is over. It returns the
// head of the arguments of kernels.
func (l *Lanes) Begin(tensors ...*Tensor) abi.Context {
	c := l.c
	c.Touch(tensors...)
	c.begins(false)
	l.order(l.main, l.side)
	l.on(l.side)
	c.Touch(tensors...)
	head := c.Join(c.opts.group)
	l.id = head.Ordinal
	l.meet(c.opts.group.watch.Come)
	l.on(l.main)
	return head
}

// Product notes that a product comes next on the call's stream, so that a trace shows each.
func (l *Lanes) Product() { l.trace(operators.MatMul.Name, l.main) }

func (l *Lanes) trace(op string, s *Stream) {
	if !l.Single() {
		for _, o := range l.c.rt.following() {
			o.called(op, s)
		}
	}
}

// Copy copies by copy engines. A trace shows each call.
func (l *Lanes) Copy(copies ...device.Copy) {
	l.trace(l.c.Record.Op, l.side)
	l.issued(l.side.issue(func(d device.Stream) error { return d.CopyAll(copies) }))
}

// Copied makes the kernels that are issued from now on wait for the copies so far.
func (l *Lanes) Copied() { l.order(l.side, l.main) }

// Calculated makes the copies that are issued from now on, and those of later calls, wait for the
// kernels so far.
func (l *Lanes) Calculated() { l.order(l.main, l.side) }

// End lets the members' streams of copies meet: then no member copies any more, and the call's
// stream goes on.
func (l *Lanes) End() {
	g := l.c.opts.group
	l.trace(l.c.Record.Op, l.side)
	l.meet(g.watch.Finish)
	if len(g.ranks) > 1 {
		g.watchCopies(l.side)
	}
	g.mark(l.c.Record.Op, l.side)
	l.Copied()
}

func (l *Lanes) meet(ops func(id uint32) []device.Value) {
	if len(l.c.opts.group.ranks) > 1 {
		l.issued(l.side.issue(func(d device.Stream) error { return d.Values(ops(l.id)) }))
	}
}

// on makes a stream the one that the call issues its work on.
func (l *Lanes) on(s *Stream) {
	if !l.Single() {
		l.c.opts.stream = s
		l.c.PickStream()
	}
}

// order makes the later work of a stream, to, wait for the earlier work of another, from.
func (l *Lanes) order(from, to *Stream) {
	if l.Single() {
		return
	}
	turn := l.c.rt.beside.turn
	l.issued(from.record(turn))
	l.issued(to.wait(turn))
}

func (l *Lanes) issued(err error) {
	if err != nil {
		panic(l.c.rt.failure(l.c.Record.Op, err))
	}
}
