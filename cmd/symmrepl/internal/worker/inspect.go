package worker

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	case session.TopicTopo:
		a.Topology, err = c.topology()
	case session.TopicNetwork:
		a.Network, err = c.network(q.Arg)
	case session.TopicSlow:
		if q.Arg != "" {
			err = symmem.Maybe(func() { c.runtime.Slow(q.Arg) })
		}
		a.Text = c.runtime.Slowed()
	case session.TopicWhy:
		a.Text, err = c.why(q.Arg)
	case session.TopicStartTrace:
		err = symmem.Maybe(c.runtime.StartTrace)
	case session.TopicStopTrace:
		a.Trace = c.trace()
	default:
		err = fmt.Errorf("there is no topic %q", q.Topic)
	}
	return a, err
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

// why describes how the calls of a cell were executed. Equal calls in a row share their lines.
func (c communicator) why(arg string) (string, error) {
	cell := 0
	if arg != "" {
		var err error
		if cell, err = strconv.Atoi(arg); err != nil || cell < 1 {
			return "", fmt.Errorf("a cell has a number from 1 on, not %q", arg)
		}
	}
	calls, more := c.runtime.Why(cell)
	var b strings.Builder
	for i := 0; i < len(calls); {
		e, times := calls[i], 0
		for ; i < len(calls) && calls[i].Call == e.Call && calls[i].Caller == e.Caller && slices.Equal(calls[i].Details, e.Details); i++ {
			times++
		}
		fmt.Fprintf(&b, "%s: %s", cmp.Or(line(c.places, e.Caller), "unknown place"), e.Call)
		if times > 1 {
			fmt.Fprintf(&b, ", %d times", times)
		}
		fmt.Fprintf(&b, "\n    %s\n", strings.Join(e.Details, "\n    "))
	}
	if more > 0 {
		fmt.Fprintf(&b, "and %d calls more\n", more)
	}
	return b.String(), nil
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
