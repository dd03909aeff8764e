package symmem

import (
	"context"
	"fmt"

	"github.com/symmrepl/symmrepl/internal/timeline"
	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/core/trace"
)

// Traced is the record of a trace on this rank.
type Traced = timeline.Rank

// StartTrace waits for this rank's work, compares its clock with the one that all ranks know, and
// begins to record: calls on the host, the work of each on its stream with its kernels, copies and
// waits, and messages to other hosts. It is not collective. Recording costs each call about a
// microsecond; without a trace nothing is recorded.
func (rt *Runtime) StartTrace() {
	const op = "StartTrace"
	rt.hostCall(op)
	rt.synchronize(op)
	rt.StopTrace()
	before, why := rt.compareClock()
	if n := rt.net.Load(); n != nil {
		n.Engine.Record(recordedMessages) // it fails only when it was closed
	}
	t, err := trace.Start(rt.dev, rt.watch, rt.first.record, rt.calls.Caller)
	if err != nil {
		panic(rt.failure(op, err))
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	for _, s := range rt.streams {
		s.mu.Lock()
		s.d = t.Stream(s.d, s.id)
		s.mu.Unlock()
	}
	rt.clock = timeline.Clock{Machine: timeline.Machine(), Resolution: timeline.Resolution(), Before: before, Why: why}
	on := &tracing{Trace: t}
	rt.trace.Store(on)
	rt.observe(on, true)
}

// tracing is a trace under way, which observes calls.
type tracing struct {
	blind
	*trace.Trace
}

func (t *tracing) called(op string, s *Stream) {
	if s != nil {
		t.Issue(op, s.id)
	}
}

func (t *tracing) known(id uint32, g *Group, ordinal uint64) {
	if g == nil {
		t.Know(id, nil, trace.Ends{})
		return
	}
	t.Know(id, g.ranks, trace.Ends{Group: g.key, Ordinal: ordinal})
}

// Replays implements seam.Observer.
func (t *tracing) Replays(of seam.Graph) {
	g := of.(graphSeen).Graph
	var ids []uint32
	var members [][]int
	for i := range g.calls {
		c := &g.calls[i]
		ids, members = append(ids, c.ID), append(members, c.group.members())
	}
	t.Trace.Replays(ids, members)
	if len(g.groups) > 0 {
		t.Know(0, g.groups[0].members(), trace.Ends{Group: g.groups[0].key})
	}
}

// Issued implements seam.Observer.
func (t *tracing) Issued(c *seam.Sight) {
	p, rt := &c.Route, c.Stream.(resting).rt
	if rt.signal.group != nil {
		t.Signals(rt.signal.names())
	}
	switch {
	case p.Way == "by":
		t.Crosses(p.Of, 0)
	case p.Way != "" && p.Far(c.Group):
		t.Crosses(rt.between()+" "+c.Group.(members).farEnd(p), p.Bytes)
	}
}

func (t *tracing) left()        { t.Left() }
func (t *tracing) began(uint64) { t.BeginCell("cell") }
func (t *tracing) ended(uint64) { t.EndCell() }

// StopTrace ends a trace and returns its record: at most some ten thousand slices of each kind,
// ordered by their begin; nil without a trace. It waits for work that is under way.
func (rt *Runtime) StopTrace() *Traced {
	t := rt.trace.Swap(nil)
	if t == nil {
		return nil
	}
	rt.mu.Lock()
	rt.observe(t, false)
	rt.mu.Unlock()
	t.Stop()
	rt.drain() // its errors belong to the cell that was traced
	rt.mu.Lock()
	for _, s := range rt.streams {
		s.mu.Lock()
		s.d = trace.Untraced(s.d)
		s.mu.Unlock()
	}
	rt.mu.Unlock()
	messages, more := rt.messages(t.Trace)
	out := &Traced{Rank: rt.rank, Clock: rt.clock, More: more}
	if p := rt.places.Load(); p != nil { // the ranks have met
		out.Host = p.Host(rt.rank)
	}
	if err := t.Result(out); err != nil {
		out.Source += fmt.Sprintf(" (%v)", err)
	}
	out.Slices = append(out.Slices, messages...)
	if out.Clock.Why == "" {
		out.Clock.After, out.Clock.Why = rt.compareClock()
	}
	return out
}

// PauseTrace keeps calls out of a trace, if there is one, until the function that it returns is
// called: a session pauses the trace to show a result.
func (rt *Runtime) PauseTrace() (resume func()) {
	t := rt.trace.Load()
	if t == nil {
		return func() {}
	}
	t.Pause()
	return t.Resume
}

// recordedMessages is the number of messages to other hosts that a trace has room for.
const recordedMessages = 1 << 16

// messages ends the recording of messages to other hosts and from them, and returns them.
func (rt *Runtime) messages(t *trace.Trace) (list []timeline.Slice, more int) {
	n := rt.net.Load()
	if n == nil {
		return nil, 0
	}
	all, more := n.Engine.Recorded()
	n.Engine.Record(0)
	for _, m := range all {
		s := timeline.Slice{Kind: timeline.Message, Track: timeline.Network, Name: m.Name, Begin: m.Began,
			Took: m.Ended - m.Began, Bytes: m.Bytes, Peers: []int{m.Peer}}
		if m.Signals && m.Bytes > 0 {
			s.Name += " and signal"
		}
		switch {
		case m.Received:
			s.Kind = timeline.Arrival
			s.Awaits = []string{timeline.Numbered(m.Peer, rt.rank, m.Number)}
		case m.Number > 0:
			s.Sends = []string{timeline.Numbered(rt.rank, m.Peer, m.Number)}
		}
		if m.Ordinal != 0 {
			s.Caller = t.CallerOf(m.Ordinal)
		}
		list = append(list, s)
	}
	return list, more
}

// compareClock compares this rank's clock with the hub's, or returns the reason why it could not.
func (rt *Runtime) compareClock() (c timeline.Comparison, why string) {
	if rt.client == nil {
		return timeline.Comparison{}, ""
	}
	const trips = 16
	c, err := timeline.Compare(trips, timeline.Now, func() (int64, error) { return rt.client.Clock(context.Background()) })
	if err != nil {
		return timeline.Comparison{}, err.Error()
	}
	return c, ""
}

// traceCell notes for a trace that a cell, or something like it, begins, until the function that it
// returns is called.
func (rt *Runtime) traceCell(name string) (done func()) {
	t := rt.trace.Load()
	if t == nil {
		return func() {}
	}
	t.BeginCell(name)
	return t.EndCell
}

// members are the group's world ranks; nil of none.
func (g *Group) members() []int {
	if g == nil {
		return nil
	}
	return g.ranks
}

// farEnd names the other end of the network: "to rank 3 on host 1", "with hosts 1,2".
func (g *Group) farEnd(p *seam.Route) string {
	if p.Way != "with" {
		r := g.ranks[p.Peer]
		return fmt.Sprintf("%s rank %d on host %d", p.Way, r, g.rt.hostOf(r))
	}
	var hosts []int
	for i, part := range g.split.Parts {
		if i != g.split.Home {
			hosts = append(hosts, g.rt.hostOf(part[0]))
		}
	}
	if len(hosts) == 1 {
		return fmt.Sprintf("with host %d", hosts[0])
	}
	return "with hosts " + places.Joined(hosts)
}
