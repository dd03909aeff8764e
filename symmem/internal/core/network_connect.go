package symmem

import (
	"errors"
	"path/filepath"

	"github.com/symmrepl/symmrepl/symmem/internal/core/networks"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
)

// connectNetwork connects the engines of the ranks of g, all that are left. It opens this rank's
// engine before, if it has none. It is collective over g. If a rank cannot have an engine all ranks
// get an error, unless the choice is to have none.
func (rt *Runtime) connectNetwork(op string, g *Group) error {
	n, m := rt.net.Load(), members{g}
	gate, err := networks.Meet(m, op)
	if err != nil {
		return err
	}
	if n == nil {
		n, err = rt.openNetwork(gate)
	}
	m.Lock()
	defer m.Unlock()
	why, err := rt.choice.Introduce(m, op, n, err, gate, rt.info.Kind, rt.simulated())
	if err != nil || why != "" {
		if n != nil {
			rt.net.Store(nil)
			err = errors.Join(err, n.Close())
		}
		rt.noNetwork.Store(&why)
		return err
	}
	rt.net.Store(n)
	_, err = gatherValues(g, op, "the network is connected", struct{}{}, errors.Join(rt.reconnect(), rt.watchNetwork()))
	return err
}

// networkPart has the engine, and its state for groups and tensors.
type networkPart struct{ part }

// Moves adds the messages under way.
func (p networkPart) Moves(to *Progress) {
	rt, n := p.rt, p.rt.net.Load()
	if n == nil {
		return
	}
	n.Moves(to, rt.rank)
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
