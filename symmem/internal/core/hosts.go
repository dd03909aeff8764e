package symmem

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/kernels/abi"
)

// MaxWorld is the most ranks that a world may have, on all hosts together: those that a network
// engine connects.
const MaxWorld = abi.NetPeers

// Hosts
//
// The ranks of a world may be on several hosts, real or simulated ones. A group spans hosts if its
// members do. All members meet, allocate, free and recover together on the host. A rank maps the
// memory of the members on its host, and no other. [Group.reach] refuses an operation that needs a
// pointer to the memory of another host before anything runs; one-sided operations, signals and
// barriers travel by the network (network_onesided.go). Ranks of one host whose GPUs cannot map
// each other's memory (package places) count as ranks of different hosts everywhere.

// findHosts lists the ranks of g, all that are left, by host.
func (rt *Runtime) findHosts(op string, g *Group) ([][]int, error) {
	if rt.client == nil {
		return [][]int{g.ranks}, nil
	}
	g.meeting.Lock()
	defer g.meeting.Unlock()
	done := rt.waitOnHost(op, g, g.met)
	defer done()
	hosts, err := rt.client.Hosts(rt.host(), bootstrap.Call{Group: g.ranks, Key: g.key, Ordinal: g.met, Op: op, Desc: rt.info.Kind})
	if err == nil {
		g.met++
	}
	return hosts, err
}

// simulated reports whether the world has simulated hosts.
func (rt *Runtime) simulated() bool { return rt.client != nil && rt.client.Parts().Hosts() > 1 }

// splitByHost splits the members by host. Until the hosts of the world are known it assumes one
// host.
func (g *Group) splitByHost() { g.split = g.rt.places.Load().Split(g.ranks, g.rt.rank) }

// reach refuses an operation that loads from or stores to the memory of a member, by its rank in
// the group, if the member is on another host. instead is the beginning of a hint, which names the
// remedy; "" if the remedy is to put and to get.
func (g *Group) reach(op string, peer int, instead string) {
	if g.split.Near(peer) {
		return
	}
	r, hint := g.ranks[peer], "use "+g.nearby()
	if g.rt.net.Load() != nil {
		hint = cmp.Or(instead, "Put and Get need none") + "; or " + hint
	}
	panic(&Error{Kind: KindMisuse, Op: op, Rank: g.rt.rank, Peer: r, Arg: "group",
		Msg: fmt.Sprintf("rank %d %s, and %v has no pointer to its memory", r, g.rt.apart(r), g), Hint: hint})
}

// reachAll is reach for the memory of all members.
func (g *Group) reachAll(op, instead string) {
	if !g.split.Spans() {
		return
	}
	for i := range g.ranks {
		g.reach(op, i, instead)
	}
}

// carries reports whether an operation with a member, by its rank in the group, goes over the
// network, because the member is on another host. It refuses the operation if there is no network;
// instead lists the caller's alternatives.
func (g *Group) carries(op string, peer int, instead ...string) bool {
	if !g.split.Spans() || g.split.Near(peer) {
		return false
	}
	if g.rt.net.Load() == nil {
		r := g.ranks[peer]
		msg := fmt.Sprintf("no engine carries %s between hosts, and rank %d is on another one", op, r)
		if g.rt.sameHost(r) {
			msg = fmt.Sprintf("no engine carries %s to rank %d, which %s", op, r, g.rt.apart(r))
		}
		panic(&Error{Kind: KindMisuse, Op: op, Rank: g.rt.rank, Peer: r, Arg: "group", Msg: msg + "; " + *g.rt.noNetwork.Load(),
			Hint: strings.Join(append([]string{"use " + g.nearby()}, instead...), ", or ")})
	}
	return true
}

// carriesAny is carries for an operation with all members.
func (g *Group) carriesAny(op string, instead ...string) bool {
	for i := range g.ranks {
		g.carries(op, i, instead...)
	}
	return g.split.Spans()
}
