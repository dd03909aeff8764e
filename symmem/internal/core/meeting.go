package symmem

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/symmem/internal/core/calls"
)

// meet makes a host-synchronous collective call: it returns the data of all members, in group
// order, or panics on all members.
func (g *Group) meet(op, desc string, data []byte) [][]byte {
	g.meeting.Lock()
	defer g.meeting.Unlock()
	all, err := g.gather(op, desc, data)
	if err != nil {
		panic(g.rt.failure(op, err))
	}
	return all
}

// gather is meet with an error. The caller holds g.meeting.
func (g *Group) gather(op, desc string, data []byte) ([][]byte, error) {
	if g.rt.client == nil {
		return [][]byte{data}, nil
	}
	if err := g.takePart(op); err != nil {
		return nil, err
	}
	done := g.rt.waitOnHost(op, g, g.met)
	defer done()
	g.rt.sanitizer.Publish()
	all, err := g.rt.client.Gather(g.rt.host(), g.call(op, desc), data)
	if err == nil {
		g.rt.sanitizer.Observe()
		g.met++
	}
	return all, err
}

// gatherFiles passes descriptors instead of bytes, among the members on this rank's host. If this
// rank is the only one there, it returns none.
func (g *Group) gatherFiles(op, desc string, f *os.File) ([]*os.File, error) {
	if len(g.split.Here()) == 1 {
		g.met++ // as all others
		return nil, nil
	}
	done := g.rt.waitOnHost(op, g, g.met)
	defer done()
	call := g.call(op, desc)
	if g.split.Spans() {
		call.Group, call.Key = g.split.Here(), call.Key+"/host of "+bootstrap.FormatRanks(g.split.Here())
	}
	g.rt.sanitizer.Publish()
	files, err := g.rt.client.GatherFiles(g.rt.host(), call, f)
	if err == nil {
		g.rt.sanitizer.Observe()
		g.met++
	}
	return files, err
}

func (g *Group) call(op, desc string) bootstrap.Call {
	g.rt.mu.Lock()
	defer g.rt.mu.Unlock()
	return bootstrap.Call{Group: g.ranks, Key: g.key, Ordinal: g.met, Op: op, Desc: desc + g.pool.History()}
}

// gatherValues exchanges a value of each member together with its error. If a member has an error,
// all members get an error. The caller holds g.meeting.
func gatherValues[T any](g *Group, op, desc string, mine T, failed error) ([]T, error) {
	return gatherValuesBy(g, op, mine, failed, func(data []byte) ([][]byte, error) { return g.gather(op, desc, data) })
}

// gatherValuesBy is gatherValues with another function that gathers.
func gatherValuesBy[T any](g *Group, op string, mine T, failed error, gather func([]byte) ([][]byte, error)) ([]T, error) {
	type report struct {
		Value T
		Err   string
	}
	r := report{Value: mine}
	if failed != nil {
		r.Err = failed.Error()
	}
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	all, err := gather(data)
	if failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	values := make([]T, len(all))
	for i, data := range all {
		var r report
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("rank %d answered %q: %w", g.ranks[i], data, err)
		}
		if r.Err != "" {
			return nil, &Error{Kind: KindPeer, Op: op, Rank: g.rt.rank, Peer: g.ranks[i],
				Msg: fmt.Sprintf("rank %d could not: %s", g.ranks[i], r.Err)}
		}
		values[i] = r.Value
	}
	return values, nil
}

// waitOnHost registers a host-side wait of a member of g until the function it returns is called.
func (rt *Runtime) waitOnHost(op string, g *Group, ordinal uint64) (done func()) {
	traced := rt.traceHost(op, g.others(), fmt.Sprint(g.key, " meeting ", ordinal))
	rt.moves.Add(1)
	waited := rt.calls.Wait(calls.Wait{Op: op, Group: g.String(), Others: g.others(), Ordinal: ordinal})
	return func() {
		traced()
		rt.moves.Add(1)
		waited()
	}
}

// traceHost notes a call on the host for a trace, until the function that it returns is called. meets
// names a call that waits for other ranks, equally on all of them.
func (rt *Runtime) traceHost(op string, others []int, meets string) (done func()) {
	if t := rt.trace.Load(); t != nil {
		return t.Calls(op, others, meets)
	}
	return func() {}
}
