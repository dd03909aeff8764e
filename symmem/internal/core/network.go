package symmem

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/symmem/internal/core/networks"
	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// The network
//
// A world that spans hosts has one engine on each rank (package net), opened when the world is
// built. The ranks exchange addresses over the hub, and all connect with the world's generation as
// their epoch: messages from before a Recover never arrive. If one rank has no engine, none is
// used, and groups that span hosts lack the operations that only an engine can carry.
//
// A group that spans hosts has words among the signals of every member's board, for symm/net.cuh: a
// place that each member picks. A tensor that such a group has rendezvoused is two windows, the
// data and the signal pad, whose ids all members agree on.

// networking is the network between hosts, or the reason why there is none.
type networking struct {
	choice    networks.Choice
	net       atomic.Pointer[networks.Network] // nil if none carries operations between hosts
	noNetwork atomic.Pointer[string]           // why there is none, though the world spans hosts
	posting   atomic.Bool                      // kernels of the user's got handles by which they may post operations for other hosts
}

// between names the network between hosts: "the null network", "UCX 1.22.0 on lo", or "nothing".
func (rt *Runtime) between() string {
	if n := rt.net.Load(); n != nil {
		return n.Name
	}
	return "nothing"
}

// trafficOf describes the network's traffic with the peers that a wait of a call is for: " (network
// to rank 2: ...; network to rank 3: ...)". A wait that any member may end is for all members on
// other hosts.
func (rt *Runtime) trafficOf(c *Record, peers []int) string {
	n := rt.net.Load()
	if n == nil {
		return ""
	}
	if len(peers) == 0 && c.group != nil && c.group.split.Spans() {
		peers = c.group.others()
	}
	peers = slices.DeleteFunc(slices.Clone(peers), func(r int) bool { return rt.partOf(r) == rt.partOf(rt.rank) })
	return n.TrafficWith(peers)
}

// loss describes a peer that is gone, with the reason.
func (rt *Runtime) loss(rank int) string {
	at := ""
	if len(rt.places.Load().Hosts) > 1 {
		at = fmt.Sprintf(" on host %d", rt.hostOf(rank))
	}
	return fmt.Sprintf("rank %d%s is gone: %s", rank, at, cmp.Or(rt.peerState(rank).Why, "the network lost it"))
}

// lost reports to the engine that a rank is gone for good; with rank 0 all ranks of its host are,
// if that is another host. Waits that depend on them then end.
func (rt *Runtime) lost(rank int, why string) {
	n, p := rt.net.Load(), rt.places.Load()
	if n == nil || p == nil {
		return // the world is not built yet, and will not be
	}
	gone := []int{rank}
	if rank == 0 && !rt.sameHost(0) {
		gone = p.Hosts[rt.hostOf(0)]
	}
	for _, r := range gone {
		if rt.partOf(r) != rt.partOf(rt.rank) {
			n.Engine.Lose(r, why) // fails only when the world is closed
		}
	}
}

// peerState returns the engine's state of a rank; the zero value if there is no engine.
func (rt *Runtime) peerState(rank int) (state net.PeerState) {
	if n := rt.net.Load(); n != nil {
		state = n.Engine.Peer(rank)
	}
	return state
}
