package symmem

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/symmrepl/symmrepl/symmem/internal/core/networks"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// networkReport describes a rank's end of the network to the other ranks.
type networkReport struct {
	Arch    string
	Device  string
	Address []byte
	Secret  uint64 // the first rank's counts
	Why     string // the rank has no engine; empty if it has
}

// connectNetwork connects the engines of the ranks of g, all that are left. It opens this rank's
// engine before, if it has none. It is collective over g. If a rank cannot have an engine all ranks
// get an error, unless the choice is to have none.
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

// gatherGate returns the gate. It is collective over g: no member opens its engine, or publishes
// its address, before all know the secret.
func (rt *Runtime) gatherGate(op string, g *Group) (networks.Gate, error) {
	g.meeting.Lock()
	defer g.meeting.Unlock()
	all, err := gatherValues(g, op, "the gate of the network", networks.NewReport(), nil)
	if err != nil {
		return networks.Gate{}, err
	}
	return networks.GateOf(all), nil
}

// sameKind refuses members of g whose device or architecture is not that of the first: their memory
// may not mean the same.
func sameKind(g *Group, op string, all []networkReport) error {
	for i, peer := range all {
		if peer.Arch != all[0].Arch || peer.Device != all[0].Device {
			return &Error{Kind: KindMismatch, Op: op, Rank: g.rt.rank, Peer: g.ranks[i],
				Msg: fmt.Sprintf("rank %d runs on %s (%s), rank %d on %s (%s)", g.ranks[0], all[0].Device, all[0].Arch,
					g.ranks[i], peer.Device, peer.Arch),
				Hint: "run all ranks on devices of one kind and processors of one architecture"}
		}
	}
	return nil
}

// networkPart has the engine, and its state for groups and tensors.
type networkPart struct{ part }

// Moves adds the messages under way.
func (p networkPart) Moves(to *Progress) {
	rt, n := p.rt, p.rt.net.Load()
	if n == nil {
		return
	}
	to.Stands = to.Stands && rt.flushed()
	for _, peer := range n.Engine.Peers() {
		if peer.Rank == rt.rank {
			continue
		}
		// Questions and answers for a table of waits are no progress: only numbered messages count.
		to.Stands = to.Stands && peer.Posted == peer.Sent && peer.Parked == 0
		to.Exchanged = append(to.Exchanged, Exchanged{Peer: peer.Rank, Sent: peer.Numbered, Landed: peer.Landed})
		for _, count := range []uint64{peer.Posted, peer.Sent, peer.Numbered, peer.Landed} {
			to.Mix(count)
		}
	}
}

// Settle begins the epoch of this generation, so that no signal arrives any more while signals are
// cleared. With ranks that were replaced, the ranks connect anew instead.
func (p networkPart) Settle(l seam.Loss) error {
	if len(l.Replaced) > 0 {
		return nil
	}
	return p.rt.reconnect()
}

// DropGroup ends the group's windows, of which the memory stays, and gives its words back.
func (p networkPart) DropGroup(g *Group) {
	for _, a := range p.rt.allocs {
		a.conceal(g)
	}
	g.unwire()
}

func (p networkPart) DropMemory(_ string, a *allocation) error {
	p.rt.mu.Lock()
	defer p.rt.mu.Unlock()
	return a.conceal(nil)
}

func (p networkPart) Close() error {
	n := p.rt.net.Swap(nil)
	if n == nil {
		return nil
	}
	return n.Close()
}

// reconnect begins the epoch of this generation, with the ranks that are left: messages of others
// are dropped. No kernel may be at work.
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
	at := networks.Place{Rank: rt.rank, Size: rt.size, Gate: gate, Dir: filepath.Join(rt.client.Dir(), "net"),
		OneMachine: rt.places.Load().Machines == 1}
	n, err := networks.Open(rt.choice, at, rt.dev)
	if err == nil {
		rt.load("net_post", "net_copy", "net_put_signal", "net_wait_signal", "net_wait_for_signal", "net_barrier")
	}
	return n, err
}
