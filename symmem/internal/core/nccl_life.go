package symmem

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/libraries"
	"github.com/symmrepl/symmrepl/symmem/internal/core/nccl"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// ncclPart has the communicators of NCCL.
type ncclPart struct{ part }

// Leave waits until the other members of groups with communicators have done their work: data that
// this rank has sent for it may still be on its way. It waits no longer than libraries.Parting.
func (p ncclPart) Leave() {
	rt := p.rt
	ctx, cancel := context.WithTimeout(rt.host(), libraries.Parting)
	defer cancel()
	rt.mu.Lock()
	groups := slices.DeleteFunc(slices.Clone(rt.groups), func(g *Group) bool {
		return g.stale.Load() != nil || !slices.ContainsFunc(g.comms[:], func(c *communicator) bool { return c != nil && !c.isEnded() })
	})
	streams := slices.Clone(rt.streams)
	rt.mu.Unlock()
	if len(groups) == 0 || rt.client == nil || rt.broken.Load() != nil {
		return
	}
	for slices.ContainsFunc(streams, func(s *Stream) bool { return !s.rests(false) }) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(failureTick):
		}
	}
	for _, g := range groups {
		if (members{g}).Part(ctx, "ends") != nil {
			return // a member that does not come does not need this rank, or is gone
		}
	}
}

func (p ncclPart) GiveUp() { p.rt.comms.GiveUp() }

// Waits lists the calls that have been under way for some time.
func (p ncclPart) Waits() (list []Wait) {
	for _, c := range p.rt.comms.All() {
		if c.isEnded() {
			continue
		}
		for _, t := range c.Pending() {
			if call, ok := p.rt.find(t.ID); ok && t.Since() > callQuiet && !t.Puts {
				list = append(list, Wait{Op: call.Text(), Ordinal: call.Ordinal, Group: c.g.String(), Peers: c.g.others(),
					For: c.Name, Since: t.Since(), Caller: call.Caller, Library: true})
			}
		}
	}
	return list
}

func (p ncclPart) Settle(seam.Loss) error { return p.Close() }

func (ncclPart) DropGroup(g *Group) {
	for _, c := range g.comms {
		if c != nil {
			c.End(nil)
		}
	}
}

// DropMemory ends the windows of an allocation.
func (p ncclPart) DropMemory(_ string, a *allocation) (err error) {
	rt := p.rt
	rt.mu.Lock()
	groups := slices.Clone(rt.groups)
	rt.mu.Unlock()
	for _, g := range groups {
		rt.mu.Lock()
		comms := g.comms
		g.deviceComms = slices.DeleteFunc(g.deviceComms, func(d *DeviceComm) bool { return d.t.st.alloc == a })
		rt.mu.Unlock()
		for _, c := range comms {
			if c != nil {
				err = errors.Join(err, c.endResources(a))
			}
		}
	}
	return err
}

// Close gives back the communicators that have ended, when the streams of all ranks have no
// work. It waits until NCCL is done with them. Graphs that captured their calls cannot be replayed
// any more.
func (p ncclPart) Close() error {
	rt := p.rt
	rt.mu.Lock()
	for _, g := range *rt.graphs.Load() {
		if g.d != nil && slices.ContainsFunc(g.comms, (*communicator).isEnded) {
			g.d.Close()
			g.d = lostGraph{}
		}
	}
	for _, g := range rt.groups {
		g.noComm = ""
		for i, c := range g.comms {
			if c != nil && c.isEnded() {
				g.comms[i] = nil
			}
		}
	}
	rt.mu.Unlock()
	var ended []*nccl.Communicator
	for _, c := range rt.comms.TakeEnded() {
		ended = append(ended, c.Communicator)
	}
	nccl.Release(ended, time.Now().Add(libraries.Ending))
	return nil
}

// lostGraph takes the place of a graph whose communicator was ended.
type lostGraph struct{}

func (lostGraph) Launch(device.Stream) error { return errLostGraph }

func (lostGraph) Close() error { return nil }

var errLostGraph = errors.New("the graph calls NCCL by a communicator that was ended")
