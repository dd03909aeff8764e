package symmem

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/core/calls"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// The steps of a call
//
// Every call that puts work in a stream takes the same steps, which are in this file. An operation
// adds its checks, the arguments of its kernel and the rule by which it picks the kernel.
//
//	check       NewCall reads the options. It refuses a group that cannot be used; a group that spans hosts, if the call needs the memory of all
//	            members; and a collective call in a cell that does not run on all members. The operation then refuses arguments that do not fit.
//	            Nothing is locked yet, and a refused call has changed nothing.
//	Enter       locks the world, so that calls of several goroutines are issued one after another; Leave unlocks it.
//	PickStream  picks the stream. It refuses the call while the world is aborted and, if the call uses signals, while the ranks' signals may be out
//	            of step.
//	Admit       commits the call:
//	            Touch  marks the tensors as used by the stream, so that their memory is not reused too early
//	            begins tells observers, of which Slow puts its delay in the stream
//	            chain  orders the stream after the group's previous use of its signals, if that was on another stream
//	            tally  numbers a collective call and adds it to the group's tally
//	            note   remembers the call under an id that its kernel receives, to explain its waits
//	Launch      puts the kernel in the stream. An error of the device becomes an *Error of the call.
//	mark        remembers that the stream was the last to use the group's signals, for the next chain.
//
// A call on a symmetric tensor finds the peers' copies by Mapped and allocates its result by Fresh,
// between Enter and Admit. The manner of its operator says which of the steps a call takes: see
// package operators.

// Call is one call of an operation that is ordered on a stream.
type Call struct {
	rt        *Runtime
	of        *operators.Operator // nil of a call without options
	opts      options
	Record    Record
	stream    *Stream     // since PickStream
	apart     bool        // its signals are used on another stream than its kernels: see Lanes
	fresh     seam.Result // where the memory of its result is from
	begun     bool        // observers were told of its admission
	told      bool        // and of its route
	preferred bool        // CopyEngine is an option because the group prefers it
	notNCCL   string      // why the device's library of collectives did not get it, if it might have

	// The tensors of Touch, without an allocation for most calls. The call holds them until its
	// work is in the stream: a program may have dropped one, and the collector would free it.
	uses [6]*Tensor
	used int
	more []*Tensor
	seam.Route
	passage
	staging // the ordinary tensors that symmetric memory stands for
}

// newCall begins a call of an operator on a group, by default g: it checks the options.
func (rt *Runtime) newCall(of *operators.Operator, g *Group, opts []Option) (c Call) {
	c.rt = rt
	rt.read(&c.opts, of, g, false, opts)
	rt.prefer(of, &c.opts)
	c.record(of)
	if of.Manner >= operators.Communicating {
		c.checkHosts(of)
	}
	return c
}

// newCall begins a call on a handle, which cannot be made on another group: it checks the options.
func (h *Handle) newCall(of *operators.Operator, opts []Option) *Call {
	h.usable(of.Name)
	c := handleCalls.Get().(*Call)
	c.rt = h.g.rt
	c.rt.read(&c.opts, of, h.g, true, opts)
	c.record(of)
	return c
}

// handleCalls holds the memory of calls of handles that are over, for the next ones: a call escapes to
// its carrier.
var handleCalls = sync.Pool{New: func() any { return new(Call) }}

// record starts the record of a call whose options were read. It refuses a collective call that not
// all members would make.
func (c *Call) record(of *operators.Operator) {
	c.of = of
	c.Record.Op, c.Record.Manner, c.Record.group = of.Name, of.Manner, c.opts.group
	if of.Manner == operators.Collective {
		c.opts.group.mustTakePart(of.Name)
	}
}

// ownCall is a call without options that concerns this rank alone.
func (rt *Runtime) ownCall(op string) Call {
	return Call{rt: rt, Record: Record{Entry: calls.Entry{Made: calls.Made{Op: op}}}}
}

// Misuse refuses the call. arg names the argument, "" for none.
func (c *Call) Misuse(arg, hint, format string, args ...any) *Error {
	return c.rt.misuse(c.Record.Op, arg, hint, format, args...)
}

// Enter locks the world: defer c.Enter().Leave().
func (c *Call) Enter() *Call {
	c.rt.mu.Lock()
	return c
}

func (c *Call) Leave() {
	for _, o := range c.rt.following() {
		o.left()
	}
	runtime.KeepAlive(c)
	c.rt.mu.Unlock()
}

// unlocked leaves while f waits for other ranks on the host, and then enters and picks the stream
// again.
func (c *Call) unlocked(f func()) {
	func() {
		c.Leave()
		defer c.Enter()
		f()
	}()
	if c.stream != nil {
		c.opts.stream = c.stream
		c.PickStream()
	}
}

// PickStream picks the stream: the current one, or the one given. It refuses the call while the
// world is aborted and, if the call uses signals, while the signals of ranks may be out of step.
func (c *Call) PickStream() {
	rt, op := c.rt, c.Record.Op
	rt.refuseClosed(op)
	if why := rt.abort.Load(); why != nil && rt.vain.Load() {
		panic(&Error{Kind: KindDeadlock, Op: op, Rank: rt.rank, Peer: -1, Msg: "refused, since a wait before it could not end: " + *why})
	} else if why != nil {
		panic(&Error{Kind: KindInterrupted, Op: op, Rank: rt.rank, Peer: -1, Msg: "refused: " + *why, Hint: rt.goingOn("")})
	}
	s := rt.current
	if c.opts.stream != nil {
		s = c.opts.stream
	}
	if s.rt != rt {
		panic(c.Misuse("stream", "give a stream of this world", "the stream belongs to another world"))
	}
	if s.closed.Load() {
		panic(s.freed(op))
	}
	if rt.capture != nil && s != rt.capture.stream {
		panic(c.Misuse("stream", "let the capture use one stream", "another stream is being captured"))
	}
	for _, o := range rt.following() {
		o.called(op, s)
	}
	c.stream = s
	if s.work != 0 {
		c.Record.work = s.work
	}
	if c.Record.Manner >= operators.Signalling {
		rt.inStep(op)
	}
}

// inStep refuses communication after a collective operation was given up: the ranks' signals may be
// out of step.
func (rt *Runtime) inStep(op string) {
	if why := rt.broken.Load(); why != nil {
		panic(&Error{Kind: KindPeer, Op: op, Rank: rt.rank, Peer: -1, Msg: "signals may be out of step since " + *why,
			Hint: rt.howToGoOn()})
	}
}

// Fresh allocates the result of a call that has begun: a tensor of undefined values, of the memory
// pool in use if there is one. shape becomes the tensor's own. The call leaves and enters again
// while a memory pool grows.
func (c *Call) Fresh(dtype DType, shape []int, n int) (t *Tensor) {
	if c.rt.pooling != nil {
		t = c.rt.pooling.takePooled(c, dtype, shape, n, false)
		c.fresh = seam.FromPool
	} else {
		c.fresh = seam.FromMemory
		t = c.rt.ordinary(c.Record.Op, c.stream, dtype, shape, n)
	}
	return c.rt.makes(t)
}

// Admit commits the call to its group, with the tensors that its work reads or writes. It returns
// the head of the kernel's arguments.
func (c *Call) Admit(tensors ...*Tensor) abi.Context {
	c.Touch(tensors...)
	c.begins(false)
	return c.Join(c.opts.group)
}

// Touch notes that the call's work uses the tensors.
func (c *Call) Touch(tensors ...*Tensor) {
	watching := c.rt.following()
	for _, t := range tensors {
		for _, o := range watching {
			o.touched(c.Record.Op, c.stream, t)
		}
		t.touch(c.stream)
		if c.used < len(c.uses) {
			c.uses[c.used] = t
		} else {
			c.more = append(c.more, t)
		}
		c.used++
	}
}

// touch notes that work on s uses the tensor. rt.mu is held.
func (t *Tensor) touch(s *Stream) {
	if b := t.st.block; b != nil && b.Stream != s {
		b.Used |= s.bit()
	}
	if a := t.st.alloc; a != nil {
		a.used |= s.bit()
	}
	if c := t.rt.capture; c != nil {
		c.keep(t)
	}
}

// Join commits the call to one of several groups that it uses.
func (c *Call) Join(g *Group) abi.Context {
	m := c.Record.Manner
	if m == operators.Alone {
		return abi.Context{}
	}
	c.Record.group, c.Record.Timeout, c.Record.Stream = g, c.opts.timeout, c.stream.id
	if m >= operators.Signalling {
		g.chain(c.Record.Op, c.stream)
	}
	if m == operators.Collective {
		g.tally(&c.Record)
	}
	c.stageIn()
	return c.rt.kernelContext(g, &c.opts, c.rt.note(&c.Record))
}

// Launch issues the call's kernel: one of kernels/, for groups of so many ranks or 0 for any.
func (c *Call) Launch(kernel string, ranks int, l device.Launch, args []byte) {
	c.issued(c.submit(kernel, ranks, l, args))
}

// submit is Launch without its end: the caller calls issued.
func (c *Call) submit(kernel string, ranks int, l device.Launch, args []byte) error {
	l.Args = args
	before := len(c.rt.builtins)
	k := c.rt.builtin(c.Record.Op, kernel, ranks)
	c.ran(kernel, len(c.rt.builtins) > before)
	return c.stream.launch(k, l)
}

// issued ends a call. err is the failure to put its work in the stream, or nil.
func (c *Call) issued(err error) {
	if err != nil {
		panic(c.rt.failure(c.Record.Op, err))
	}
	c.stageOut()
	if c.Record.Manner >= operators.Signalling && !c.apart {
		c.opts.group.mark(c.Record.Op, c.stream)
	}
	c.noteRoute()
	c.stageEnd()
}

// kernelContext is the head of a kernel's arguments for a member of g. rt.mu is held.
func (rt *Runtime) kernelContext(g *Group, o *options, call uint32) abi.Context {
	c := abi.Context{
		Watch:     rt.watchPtr(),
		TimeoutNs: uint64(o.timeout),
		Rank:      int32(g.rank),
		WorldSize: int32(len(g.ranks)),
		Ordinal:   call,
		Channels:  uint32(g.channels),
	}
	if g.work.WholeLines {
		c.Swaps = 1 // a link that keeps lines together has atomics too
	}
	return c
}

// watchPtr returns the address of the page that kernels share with the host.
func (rt *Runtime) watchPtr() device.Ptr { return device.Ptr(uintptr(unsafe.Pointer(rt.watch))) }

// MeetingGrid is the grid of a kernel between two barriers in which each member works on n bytes at
// most, and the context of its blocks' signals. loads says that it only loads from peers.
func (c *Call) MeetingGrid(n int, loads bool, head abi.Context) (device.Launch, abi.Context) {
	p := c.rt.plan
	head.Channels = uint32(p.MeetBlocks)
	threads, blocks := p.MeetThreads, p.MeetBlocks
	if loads {
		threads, blocks = p.LoadThreads, p.LoadBlocks
	}
	return launch.Grid((n+15)/16, threads, min(blocks, c.opts.group.work.Processors)), head
}

// ElementGrid is the grid of simple work on each of n elements.
func (c *Call) ElementGrid(n int) device.Launch {
	return launch.Elements(n, c.rt.plan, c.rt.info.Processors)
}
