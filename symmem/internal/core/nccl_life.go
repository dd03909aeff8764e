package symmem

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/symmem/internal/core/nccl"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// releaseComms ends those that were to end, after the work of all streams of all ranks, waits until they are over, and forgets them. Graphs that
// captured their calls cannot be replayed any more.
func (rt *Runtime) releaseComms() {
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
	nccl.Release(ended, time.Now().Add(endLimit))
}

// awaitMembers waits, before the world is closed in peace, until the members of groups that have communicators have done their work too: what this rank
// has sent for it may be on its way. It waits no longer than partLimit.
func (rt *Runtime) awaitMembers() {
	ctx, cancel := context.WithTimeout(rt.host(), partLimit)
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
		call := bootstrap.Call{Group: g.ranks, Key: g.key + " ends", Op: "Close"}
		if _, err := rt.client.Gather(ctx, call, nil); err != nil {
			return // who does not come has no need of it, or is gone
		}
	}
}

// lostGraph is in place of a graph whose communicator was ended.
type lostGraph struct{}

func (lostGraph) Launch(device.Stream) error { return errLostGraph }

func (lostGraph) Close() error { return nil }

var errLostGraph = errors.New("the graph calls NCCL by a communicator that was ended")
