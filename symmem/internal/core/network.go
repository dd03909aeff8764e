package symmem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/networks"
	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// The network
//
// A world that spans hosts has one engine on each rank (package net), opened when the world is built. The ranks exchange addresses over the
// hub, and all connect with the world's generation as their epoch: what Recover gives up never arrives. If one rank has no engine none
// is used, and groups that span hosts go without what only an engine can carry.
//
// A group that spans hosts has words among the signals of every member's board, for symm/net.cuh: a place that each member picks. A
// tensor that such a group has rendezvoused is two windows, the data and the signal pad, whose ids all members agree on.

// networking is what carries operations between hosts, or why nothing does.
type networking struct {
	choice    networks.Choice
	net       atomic.Pointer[networks.Network] // nil if none carries operations between hosts
	noNetwork atomic.Pointer[string]           // why there is none, though the world spans hosts
	posting   atomic.Bool                      // kernels of the user's were given what posts operations for other hosts
}

// networkReport is what a rank says about its end of the network.
type networkReport struct {
	Arch    string
	Device  string
	Address []byte
	Secret  uint64 // that of rank 0 counts
	Why     string // it has no engine
}

// connectNetwork connects the engines of the ranks of g, all that are left, and opens this rank's before if there is none. It is collective over g. That a rank
// cannot have an engine is an error of all, unless they were told to do without.
func (rt *Runtime) connectNetwork(op string, g *Group) error {
	n := rt.net.Load()
	gate, err := rt.gatherGate(op, g)
	if err != nil {
		return err
	}
	mine := networkReport{Arch: runtime.GOARCH, Device: rt.info.Kind}
	if n == nil {
		if n, err = rt.openNetwork(gate); err != nil {
			mine.Why = err.Error()
			if failed := (*net.Error)(nil); errors.As(err, &failed) {
				mine.Why = failed.Why
			}
		}
	}
	if n != nil {
		n.Engine.Admit(gate.Secret)
		mine.Address, mine.Secret = n.Engine.Address(), n.Secret
	}
	g.meeting.Lock()
	defer g.meeting.Unlock()
	all, err := gatherValues(g, op, "the network", mine, nil)
	if err == nil {
		err = sameKind(g, op, all)
	}
	why := ""
	for i, peer := range all {
		if peer.Why != "" && why == "" {
			why = fmt.Sprintf("rank %d has no network: %s", g.ranks[i], peer.Why)
		}
	}
	if err == nil && why != "" && rt.choice != networks.None {
		hint := "--net none, or SYMMREPL_NET=none, does without one: groups then stay within hosts"
		if rt.simulated() && rt.choice != "null" {
			hint = "--net null, or SYMMREPL_NET=null, needs no library between simulated hosts; " + hint
		}
		err = &Error{Kind: KindSystem, Op: op, Rank: rt.rank, Peer: -1, Msg: why, Hint: hint}
	}
	if err != nil || why != "" {
		if n != nil {
			rt.net.Store(nil)
			err = errors.Join(err, n.Close())
		}
		rt.noNetwork.Store(&why)
		return err
	}
	n.Secret, n.Peers = all[0].Secret, map[int][]byte{}
	for i, peer := range all {
		n.Peers[g.ranks[i]] = peer.Address
	}
	rt.net.Store(n)
	_, err = gatherValues(g, op, "the network is connected", struct{}{}, errors.Join(rt.reconnect(), rt.watchNetwork()))
	return err
}

// gatherGate finds the gate. It is collective over g, and no member opens its network, or says where that is found, before all know the secret.
func (rt *Runtime) gatherGate(op string, g *Group) (networks.Gate, error) {
	g.meeting.Lock()
	defer g.meeting.Unlock()
	all, err := gatherValues(g, op, "the gate of the network", networks.NewReport(), nil)
	if err != nil {
		return networks.Gate{}, err
	}
	return networks.GateOf(all), nil
}

// sameKind refuses members of g that are of another sort than its first: their memory may not mean the same.
func sameKind(g *Group, op string, all []networkReport) error {
	for i, peer := range all {
		if peer.Arch != all[0].Arch || peer.Device != all[0].Device {
			return &Error{Kind: KindMismatch, Op: op, Rank: g.rt.rank, Peer: g.ranks[i], Msg: fmt.Sprintf("rank %d runs on %s (%s), rank %d on %s (%s)", g.ranks[0], all[0].Device, all[0].Arch, g.ranks[i], peer.Device, peer.Arch),
				Hint: "a world is of ranks of one sort"}
		}
	}
	return nil
}

// reconnect begins the epoch of this generation, with the ranks that are left: what others still send is dropped. No kernel may be at work.
func (rt *Runtime) reconnect() error {
	n := rt.net.Load()
	if n == nil {
		return nil
	}
	err := n.Connect(rt.generation, rt.remaining())
	if err == nil {
		rt.sanitizer.Flushed(true)
	}
	return err
}

// openNetwork opens this rank's engine, and loads the kernels that post.
func (rt *Runtime) openNetwork(gate networks.Gate) (*networks.Network, error) {
	at := networks.Place{Rank: rt.rank, Size: rt.size, Gate: gate, Dir: filepath.Join(rt.client.Dir(), "net"), OneMachine: rt.places.Load().Machines == 1}
	n, err := networks.Open(rt.choice, at, rt.dev)
	if err == nil {
		rt.load("net_post", "net_copy", "net_put_signal", "net_wait_signal", "net_wait_for_signal", "net_barrier")
	}
	return n, err
}

// between says what carries traffic between hosts: "the null network", "UCX 1.22.0 on lo", or "nothing".
func (rt *Runtime) between() string {
	if n := rt.net.Load(); n != nil {
		return n.Name
	}
	return "nothing"
}

// tellsWithin is how long a table of waits waits for what peers say that they have sent. They answer at once, but for a network that delays or drops it.
const tellsWithin = 20 * time.Millisecond

// mostTraffic is how many peers trafficOf describes.
const mostTraffic = 4

// trafficOf describes the network's traffic with the peers that a wait of a call is for: " (network to rank 2: ...; network to rank 3: ...)". A wait that any
// member may end is for all members on other hosts.
func (rt *Runtime) trafficOf(c *Record, peers []int) string {
	n := rt.net.Load()
	if n == nil {
		return ""
	}
	if len(peers) == 0 && c.group != nil && c.group.split.Spans() {
		peers = c.group.others()
	}
	peers = slices.DeleteFunc(slices.Clone(peers), func(r int) bool { return rt.partOf(r) == rt.partOf(rt.rank) })
	var list []string
	ctx, cancel := context.WithTimeout(context.Background(), tellsWithin)
	defer cancel()
	for i, r := range peers {
		if len(list) == mostTraffic {
			list = append(list, fmt.Sprintf("and %d ranks more", len(peers)-i))
			break
		}
		if t := n.Traffic(ctx, r); t != "" {
			list = append(list, t)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, "; ") + ")"
}

// loss says that a peer is gone, and why.
func (rt *Runtime) loss(rank int) string {
	at := ""
	if len(rt.places.Load().Hosts) > 1 {
		at = fmt.Sprintf(" on host %d", rt.hostOf(rank))
	}
	return fmt.Sprintf("rank %d%s is gone: %s", rank, at, cmp.Or(rt.peerState(rank).Why, "the network lost it"))
}

// lost tells the engine that a rank is gone for good, and with rank 0 all of its host if that is another. Waits that depend on them then end.
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

// peerState is what the engine knows of a rank, if there is one.
func (rt *Runtime) peerState(rank int) (state net.PeerState) {
	if n := rt.net.Load(); n != nil {
		state = n.Engine.Peer(rank)
	}
	return state
}
