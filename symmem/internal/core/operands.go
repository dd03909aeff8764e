package symmem

import (
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// The tensors of a collective
//
// A collective needs the members' copies of its tensors. A symmetric tensor that the call's group
// has not mapped is rendezvoused by the call, for which the members meet on the host: they make the
// call together in any case, and one that makes another call is found out as in any meeting. For a
// tensor of ordinary memory, symmetric memory of the group stands: the call copies the tensor there,
// or from there, or both, on its stream. The group keeps that memory for its next calls. Neither is
// done while a graph is captured, whose replays would have the cost too.

// Mapped returns the members' copies of t, which must be symmetric. If the call's group has not
// rendezvoused t, Mapped does so: the call leaves and enters again.
func (c *Call) Mapped(t *Tensor) Copies {
	if !t.Symmetric() {
		panic(c.Misuse("tensor", "allocate it by Empty, or within UseMemPool", "the tensor %v is not symmetric", t.kind()))
	}
	a, g := t.st.alloc, c.opts.group
	a.usable(c.Record.Op)
	m := a.anyMapping(g)
	if m == nil {
		if e := c.refusedMeeting(t); e != nil {
			panic(e)
		}
		whole := &Tensor{rt: c.rt, st: t.st, dtype: a.dtype, shape: a.shape, n: a.size / a.dtype.Size()}
		if a.block != nil {
			var refused *Error
			if m, refused = a.mapPooled(c.Record.Op, whole, g); refused != nil {
				panic(refused)
			}
		} else {
			c.unlocked(func() {
				m = g.mapCopies(c.Record.Op, whole)
				g.registerWindow(c.Record.Op, a)
			})
		}
	}
	return Copies{m, t}
}

// Maps reports whether t is symmetric and its copies are known in the call's group, or can be once
// the call meets the other members for that. The call has entered.
func (c *Call) Maps(t *Tensor) bool {
	return t.Symmetric() && (t.st.alloc.anyMapping(c.opts.group) != nil || c.refusedMeeting(t) == nil)
}

// refusedMeeting returns the error of a call that cannot rendezvous t, which its group has not
// mapped, by itself; nil if it can.
func (c *Call) refusedMeeting(t *Tensor) *Error {
	a, g := t.st.alloc, c.opts.group
	for _, r := range g.ranks {
		if !slices.Contains(a.group.ranks, r) {
			return c.Misuse("group", "", "rank %d of %v has no part of a tensor of %v", r, g, a.group)
		}
	}
	if len(a.mappings) > 0 && !c.opts.has(operators.Group) {
		return c.Misuse("tensor", "give that group as the last argument, or Rendezvous the tensor in this one",
			"the tensor %v was rendezvoused by %v, not by %v", t.kind(), a.mappings[0].g, g)
	}
	if c.rt.capture != nil {
		return c.Misuse("tensor", "before the capture, call Rendezvous on it or make the call once",
			"the tensor %v was not rendezvoused by %v, which cannot be done while a graph is captured", t.kind(), g)
	}
	return nil
}

// Access is a set of the accesses of a call to an operand.
type Access uint8

const (
	Reads  Access = 1 << iota // it needs the values
	Writes                    // it leaves values there
)

// staging lists the tensors of a call that symmetric memory stands for.
type staging struct {
	stages []stage
	staged bool // the tensors were copied to it
	copied bool // Explain knows it
}

// stage is one of these tensors.
type stage struct {
	access    Access
	of, stand *Tensor
}

// Symmetric returns t if it is symmetric, and otherwise a tensor like it in symmetric memory that
// the group has mapped, at the same place on all members: the call copies t there before its kernel
// runs, and from there afterwards, as it accesses it. The call has entered, and may leave and enter
// again.
func (c *Call) Symmetric(t *Tensor, access Access) *Tensor {
	if t.Symmetric() {
		return t
	}
	c.refuseOrdinary(t)
	g := c.opts.group
	n := len(c.stages)
	if len(g.stands) == n {
		g.stands = append(g.stands, nil)
	}
	if s := g.stands[n]; s == nil || s.n < t.Bytes() || s.st.alloc.stale.Load() != nil {
		c.unlocked(func() { g.growStand(c.Record.Op, n, t) })
	}
	s := *g.stands[n]
	s.dtype, s.shape, s.n = t.dtype, t.shape, t.n
	c.stages = append(c.stages, stage{access, t, &s})
	return &s
}

// Place returns a tensor for a parameter of a kernel of the user's that is declared symmetric, and
// its handle: t if it is symmetric, and otherwise one that stands for it, in the group of all ranks.
// The call has entered, and may leave and enter again.
func (c *Call) Place(t *Tensor) (*Tensor, *Handle) {
	c.opts.group = c.rt.home(t)
	t = c.Symmetric(t, Reads|Writes)
	c.Mapped(t)
	a, g := t.st.alloc, c.opts.group
	m := a.find(t, g)
	if m == nil {
		if m = a.mapping(t, g); !a.stands { // which are for this call alone
			a.keep(m)
		}
	}
	return t, m.of(t)
}

// Pointers returns the address of the array of the members' copies of the memory that Place
// returned.
func (c *Call) Pointers(h *Handle) (p device.Ptr) {
	m := h.mapping
	if m.a.stands {
		m = m.a.anyMapping(m.g) // which lasts, and begins where all that stand begin
	}
	c.unlocked(func() { p = device.Ptr(m.table(c.Record.Op, 0)) })
	return p
}

// Through checks a tensor that the group's inboxes carry: it needs no stand-in, and is refused like
// one that does. A symmetric one is mapped.
func (c *Call) Through(t *Tensor) {
	if t.Symmetric() {
		c.Mapped(t)
	} else {
		c.refuseOrdinary(t)
	}
}

// refuseOrdinary refuses a tensor that is not symmetric where none can stand for it.
func (c *Call) refuseOrdinary(t *Tensor) {
	switch {
	case t.st.alloc != nil:
		panic(c.Misuse("tensor", "give the tensor itself, or copy it to one of Local",
			"the tensor %v is a view of memory of rank %d, and not symmetric", t.kind(), t.st.peer))
	case c.rt.capture != nil:
		panic(c.Misuse("tensor", "allocate it by Empty, or within UseMemPool",
			"the tensor %v is not symmetric, and a graph would copy it in every replay", t.kind()))
	}
}

// smallestStand is the least bytes of memory that stands for tensors.
const smallestStand = 1 << 20

// growStand makes memory number i that stands for tensors large enough for t. It is collective over
// the group, on the host.
func (g *Group) growStand(op string, i int, t *Tensor) {
	size := smallestStand
	for size < t.Bytes() {
		size *= 2
	}
	rt := g.rt
	rt.mu.Lock()
	old := g.stands[i]
	g.stands[i] = nil
	rt.mu.Unlock()
	if old != nil {
		old.st.alloc.free(op)
	}
	s := g.empty(op, U8, []int{size}, windowUnit,
		fmt.Sprintf("%s of ordinary memory, copied to %d bytes of symmetric memory", t.kind(), size))
	rt.mu.Lock()
	s.st.alloc.stands = true
	rt.mu.Unlock()
	g.mapCopies(op, s)
	g.registerWindow(op, s.st.alloc)
	rt.mu.Lock()
	defer rt.mu.Unlock()
	g.stands[i] = s
}

// dropStands gives the memory that stands for tensors back. No member may be communicating. rt.mu is
// held.
func (g *Group) dropStands() {
	rt := g.rt
	for _, s := range g.stands {
		if s == nil {
			continue
		}
		a := s.st.alloc
		a.freed.Store(true)
		rt.allocs = slices.DeleteFunc(rt.allocs, func(o *allocation) bool { return o == a })
		if a.conceal(nil) == nil { // otherwise something may still land there
			a.release()
		}
	}
	g.stands = nil
}

// stageIn copies the tensors that the call reads to the memory that stands for them, once the stream
// is ordered after the group's previous use of it.
func (c *Call) stageIn() {
	if c.staged {
		return
	}
	c.staged = true
	for _, s := range c.stages {
		c.Touch(s.of, s.stand)
		if s.access&Reads != 0 {
			c.stageCopy(s.stand.pointer(), s.of.pointer(), s.of.Bytes())
		}
	}
}

// stageOut copies back, behind the call's kernel.
func (c *Call) stageOut() {
	for _, s := range c.stages {
		if s.access&Writes != 0 {
			c.stageCopy(s.of.pointer(), s.stand.pointer(), s.of.Bytes())
		}
	}
}

// stageEnd ends the use of the stand-ins, once Explain has its facts about the call.
func (c *Call) stageEnd() {
	if len(c.stages) > 0 && !c.copied {
		c.Chose(c.stages[0].of.Bytes(), &tuning.Way{Path: "loads and stores between barriers", Why: "it has no other way"})
	}
	c.stages = nil
}

func (c *Call) stageCopy(dst, src device.Ptr, n int) {
	if err := c.stream.copy(dst, src, n); err != nil {
		panic(c.rt.failure(c.Record.Op, err))
	}
}

// stagedBytes is the number of bytes of ordinary memory for which symmetric memory stands.
func (c *Call) stagedBytes() (n int) {
	for _, s := range c.stages {
		n += s.of.Bytes()
	}
	return n
}
