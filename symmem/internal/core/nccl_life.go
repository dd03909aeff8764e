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

// releaseComms gives back the communicators that have ended, when the streams of all ranks have no
// work. It waits until NCCL is done with them. Graphs that captured their calls cannot be replayed
// any more.
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

// awaitMembers waits before the world is closed in peace, until the other members of groups with
// communicators have done their work: data that this rank has sent for it may still be on its way.
// It waits no longer than partLimit.
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
			return // a member that does not come does not need this rank, or is gone
		}
	}
}

// lostGraph takes the place of a graph whose communicator was ended.
type lostGraph struct{}

func (lostGraph) Launch(device.Stream) error { return errLostGraph }

func (lostGraph) Close() error { return nil }

var errLostGraph = errors.New("the graph calls NCCL by a communicator that was ended")
