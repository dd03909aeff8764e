package rank

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/internal/timeline"
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
	case session.TopicSlow:
		if q.Arg != "" {
			err = symmem.Maybe(func() { c.runtime.Slow(q.Arg) })
		}
		a.Text = c.runtime.Slowed()
	case session.TopicWhy:
		a.Text, err = c.why(q.Arg)
	case session.TopicStartTrace:
		err = symmem.Maybe(c.runtime.StartTrace)
	case session.TopicGoOn: // no program lends
	case session.TopicStopTrace:
		a.Trace = c.trace()
	default:
		err = fmt.Errorf("there is no topic %q", q.Topic)
	}
	return a, err
}

// state describes the device and this rank's work on it.
func (c communicator) state() *session.RankState {
	s := c.runtime.State()
	out := &session.RankState{Locked: s.Locked, Waits: c.Waits(), Busy: c.Busy()}
	for _, stream := range s.Streams {
		out.Streams = append(out.Streams,
			session.StreamInfo{ID: stream.ID, Rests: stream.Rests, Runs: stream.Runs, At: line(c.places, stream.Caller)})
	}
	for _, g := range s.Groups {
		info := session.GroupInfo{Name: g.Name, Members: g.Ranks, Channels: g.Channels, Calls: g.Calls, Last: g.Last,
			At: line(c.places, g.Caller), Stale: g.Stale}
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
	out := &session.Topology{Device: t.Device, ID: t.ID, Medium: t.Medium, Host: t.Host, Part: t.Part, Between: t.Between,
		Sharers: t.Sharers, Manner: t.Manner}
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

// why describes how the calls of a cell were executed. Equal calls share their lines, at the place of
// the first.
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
	type entry struct{ call, details string }
	var entries []entry
	times := map[entry]int{}
	for _, e := range calls {
		at := cmp.Or(line(c.places, e.Caller), "unknown place")
		same := entry{at + ": " + e.Call, strings.Join(e.Details, "\n    ")}
		if times[same] == 0 {
			entries = append(entries, same)
		}
		times[same]++
	}
	for _, e := range entries {
		b.WriteString(e.call)
		if n := times[e]; n > 1 {
			fmt.Fprintf(&b, ", %d times", n)
		}
		fmt.Fprintf(&b, "\n    %s\n", e.details)
	}
	if more > 0 {
		fmt.Fprintf(&b, "and %s\n", count.Of(more, "more call"))
	}
	return b.String(), nil
}

// trace stops a trace and returns its record, with the lines of the user's text.
func (c communicator) trace() *session.Trace {
	t := c.runtime.StopTrace()
	if t == nil {
		return &session.Trace{Rank: c.runtime.Rank()}
	}
	lines := map[int]string{}
	for i := range t.Slices {
		s := &t.Slices[i]
		at, known := lines[s.Caller]
		if !known {
			at = line(c.places, s.Caller)
			lines[s.Caller] = at
		}
		s.At = at
	}
	for i := range t.Slices {
		if s := &t.Slices[i]; s.Kind == timeline.Cell {
			s.At = ""
			s.Name = cellOf(t, s)
		}
	}
	return t
}

// cellOf names a cell by the first line of it that made a call.
func cellOf(t *session.Trace, cell *timeline.Slice) string {
	for i := range t.Slices {
		if s := &t.Slices[i]; s.Kind == timeline.Call && s.Begin >= cell.Begin && s.Begin < cell.End() && s.At != "" {
			name, _, _ := strings.Cut(s.At, ":")
			return name
		}
	}
	return cell.Name
}
