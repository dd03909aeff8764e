package worker

import (
	"fmt"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem"
)

// inspect answers queries about the device.
func (c communicator) inspect(q session.Query) (a session.Answer, err error) {
	switch q.Topic {
	case session.TopicCaps:
		a.Text = c.runtime.Caps().String()
	case session.TopicTop:
		a.Text, err = c.runtime.Top()
	case session.TopicHeld:
		a.Text = c.runtime.Held()
	case session.TopicState:
		a.State = c.state()
	case session.TopicTopo:
		a.Topology, err = c.topology()
	case session.TopicNetwork:
		a.Network, err = c.network(q.Arg)
	case session.TopicStartTrace:
		err = symmem.Maybe(c.runtime.StartTrace)
	case session.TopicStopTrace:
		a.Trace = c.trace()
	default:
		err = fmt.Errorf("there is no topic %q", q.Topic)
	}
	return a, err
}

// state describes the device and what this rank does on it.
func (c communicator) state() *session.RankState {
	s := c.runtime.State()
	out := &session.RankState{Locked: s.Locked, Waits: c.Waits(), Busy: c.Busy()}
	for _, stream := range s.Streams {
		out.Streams = append(out.Streams, session.StreamInfo{ID: stream.ID, Rests: stream.Rests, Runs: stream.Runs, At: line(c.places, stream.Caller)})
	}
	for _, g := range s.Groups {
		info := session.GroupInfo{Name: g.Name, Members: g.Ranks, Channels: g.Channels, Calls: g.Calls, Last: g.Last, At: line(c.places, g.Caller), Stale: g.Stale}
		for _, signal := range g.Signals {
			info.Signals = append(info.Signals, session.SignalInfo(signal))
		}
		out.Groups = append(out.Groups, info)
	}
	for _, w := range s.Words {
		out.Words = append(out.Words, session.WordInfo(w))
	}
	return out
}

func (c communicator) topology() (*session.Topology, error) {
	t, err := c.runtime.Topology()
	if err != nil {
		return nil, err
	}
	out := &session.Topology{Device: t.Device, ID: t.ID, Medium: t.Medium, Host: t.Host, Part: t.Part, Between: t.Between, Sharers: t.Sharers, Manner: t.Manner}
	for _, l := range t.Links {
		out.Links = append(out.Links, session.Link(l))
	}
	return out, nil
}

// network describes the network, after changing its settings if the query has any.
func (c communicator) network(settings string) (*session.Network, error) {
	if settings != "" {
		if err := c.runtime.TuneNetwork(settings); err != nil {
			return nil, err
		}
	}
	n := c.runtime.Network()
	out := &session.Network{Name: n.Name, Why: n.Why, Refused: n.Refused}
	for _, p := range n.Peers {
		out.Peers = append(out.Peers, session.NetworkPeer(p))
	}
	return out, nil
}

// trace stops a trace and returns it.
func (c communicator) trace() *session.Trace {
	ops, more := c.runtime.StopTrace()
	t := &session.Trace{More: more}
	for _, o := range ops {
		traced := session.TracedOp{Op: o.Op, At: line(c.places, o.Caller), Stream: o.Stream, Begin: o.Begin, Took: o.Took, Over: o.Over, Bytes: o.Bytes}
		for _, w := range o.Waits {
			traced.Waits = append(traced.Waits, session.TracedWait(w))
		}
		t.Ops = append(t.Ops, traced)
	}
	return t
}
