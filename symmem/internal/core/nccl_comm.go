package symmem

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/symmem/internal/core/nccl"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/core/waits"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// Communicators
//
// A group whose collectives go by NCCL has a communicator of it. The first such call makes it: all members meet on the
// host, tell each other which NCCL they have, and join. Its kernels look at no abort word. So whatever gives up the waits of the world ends the
// communicators too, and with them their kernels; the next call makes another one. While a call may be under way, a goroutine asks NCCL for
// failures, and [Runtime.Waits] tells of the call.

const (
	joinLimit   = 2 * time.Minute // to make a communicator
	endLimit    = 10 * time.Second
	partLimit   = 3 * time.Second // to wait for the other members before a world is closed
	failureTick = 10 * time.Millisecond
	callQuiet   = 50 * time.Millisecond // before a call counts as a wait
)

// A group has up to two communicators: the collectives of one are kernels, those of the other copies by copy engines, where NCCL can.
const (
	byKernels = iota
	byEngines
	communicatorSorts
)

// communicator is a member's part of a group's.
type communicator struct {
	*nccl.Communicator
	g    *Group
	sort int

	resources []resource // in the order in which all members made them; guarded by rt.mu
	noPuts    string     // why NCCL does no puts by it, if so
}

// resting is a stream as calls of NCCL know it.
type resting struct{ *Stream }

func (s resting) AtRest() bool { return s.rests(false) }

// GaveUp implements nccl.Owner: the next synchronisation tells of the call.
func (c *communicator) GaveUp(t nccl.Call) {
	r := device.WaitRecord{State: device.WaitAborted, Kind: device.WaitLibrary, Ordinal: t.ID, Rank: uint32(c.g.rank), Peer: uint32(c.g.rank), Elapsed: uint64(t.Since())}
	if t.Expired() {
		r.State = device.WaitTimeout
	}
	waits.Give(c.g.rt.watch, &r)
}

// EndKernels implements nccl.Owner.
func (c *communicator) EndKernels() { atomic.StoreUint32(&c.g.rt.watch.Ended, 1) }

func (c *communicator) isEnded() bool {
	ended, _ := c.Ended()
	return ended
}

// watchCalls watches the calls that a replay of the graph put in a stream.
func (g *Graph) watchCalls(s *Stream) {
	for _, comm := range g.comms {
		id := uint32(0)
		for _, call := range g.calls {
			if call.group == comm.g {
				id = call.ID
			}
		}
		comm.Watch(nccl.Call{On: resting{s}, ID: id})
	}
}

// collectivesSettings are the environment that NCCL needs here.
func (rt *Runtime) collectivesSettings() []string {
	host := -1
	if rt.simulated() {
		host = rt.hostOf(rt.rank)
	}
	return nccl.Environment(rt.places.Load().Machines == 1, host)
}

// ByNCCL decides whether the call, which has not entered, goes by NCCL, and makes the group's communicator if it
// does. cannot says why NCCL does not do this one, if so. A call that asks for it by Via and cannot have it is refused.
func (c *Call) ByNCCL(cannot string) bool {
	g, rt := c.opts.group, c.rt
	asked := c.opts.via == ViaNCCL
	d, ok := rt.dev.(device.CollectiveDevice)
	if !asked && (c.opts.via != "" || !g.split.Spans() || !ok || c.opts.has(operators.CopyEngine)) {
		return false
	}
	if cannot == "" && ok {
		cannot = c.whyNotNCCL()
	}
	sort := c.commSort()
	rt.mu.Lock()
	made, capturing, failed := g.comms[sort] != nil, rt.capture != nil, g.noComm
	rt.mu.Unlock()
	if !asked {
		switch {
		case cannot != "":
			c.notNCCL = cannot
		case failed != "":
			c.notNCCL = failed
		case capturing && !made:
			c.notNCCL = "its communicator cannot be made while a graph is captured"
		}
		if c.notNCCL != "" {
			return false
		}
	} else {
		switch {
		case !ok:
			panic(c.Misuse("Via", "leave it out", "NCCL needs the cuda device, this is %s", rt.name))
		case cannot != "":
			panic(c.Misuse("Via", "leave it out", "NCCL does not do this: %s", cannot))
		case capturing && !made:
			panic(c.Misuse("Via", "make the call once before the capture", "%v has no communicator of NCCL yet, and none can be made while a graph is captured", g))
		}
	}
	var err error
	if !made {
		g.usable(c.Record.Op)
		err = g.join(c.Record.Op, d, sort)
	}
	if err == nil {
		c.Record.Far = false // it goes over NCCL's own network
		return true
	}
	e := rt.failure(c.Record.Op, err)
	if asked || e.Kind == KindInterrupted || e.Kind == KindPeer || e.Kind == KindMismatch {
		panic(e)
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	g.noComm, c.notNCCL = e.Msg, e.Msg
	return false
}

// commSort is which communicator of the group's an asked call goes by.
func (c *Call) commSort() int {
	if c.opts.has(operators.CopyEngine) {
		return byEngines
	}
	return byKernels
}

// whyNotNCCL says why NCCL does not do a call of this group with these options.
func (c *Call) whyNotNCCL() string {
	switch {
	case c.opts.timeout > 0:
		return "its waits have no Timeout"
	case c.opts.has(operators.CopyEngine) && !c.rt.hasWindows():
		return "its copy engines need windows, which the back end NCCL has with NCCL 2.29.7 or later"
	case c.opts.has(operators.AccumulateF32):
		return "it has no AccumulateF32"
	}
	return c.opts.group.shares()
}

// shares says which members use the same device and that NCCL has no communicators for these; empty if none do or it has.
func (g *Group) shares() string {
	if !g.sharesDevices() {
		return ""
	}
	return g.rt.refusesSharing(g.rt.sharing())
}

// sharesDevices reports whether two members use the same device.
func (g *Group) sharesDevices() bool {
	return slices.ContainsFunc(g.rt.sharing().Ranks, func(ranks []int) bool { return firstOf(ranks, g.ranks) != lastOf(ranks, g.ranks) })
}

// refusesSharing says that NCCL has no communicators for ranks that share devices; empty if it has.
func (rt *Runtime) refusesSharing(s Sharing) string {
	why := "NCCL needs a GPU for each"
	if d, ok := rt.dev.(device.CollectiveDevice); ok {
		if l, err := d.Collectives(rt.collectivesSettings()); err == nil {
			why = l.Shares()
		}
	}
	if why == "" {
		return ""
	}
	return fmt.Sprintf("%v, and %s", s, why)
}

// hasComm reports whether a group has a communicator of a sort.
func (rt *Runtime) hasComm(g *Group, sort int) bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return g.comms[sort] != nil
}

// lastOf returns the last of ranks that is in set, or -1.
func lastOf(ranks, set []int) int {
	for i := len(ranks) - 1; i >= 0; i-- {
		if slices.Contains(set, ranks[i]) {
			return ranks[i]
		}
	}
	return -1
}

// join makes the group's communicator of a sort. It is collective over the group, on the host.
func (g *Group) join(op string, d device.CollectiveDevice, sort int) error {
	rt := g.rt
	type member struct {
		Library string
		Why     string // there is none
		Hint    string
		ID      []byte // of the first member
	}
	var mine member
	library, err := d.Collectives(rt.collectivesSettings())
	var un *device.UnavailableError
	switch {
	case errors.As(err, &un):
		mine.Why, mine.Hint, err = un.Why, un.Hint, nil
	case err == nil:
		mine.Library = library.Name()
		if g.rank == 0 {
			mine.ID, err = library.NewID()
		}
	}
	g.meeting.Lock()
	defer g.meeting.Unlock()
	if rt.hasComm(g, sort) { // by another goroutine's call
		return nil
	}
	all, err := gatherValues(g, op, "by NCCL", mine, err)
	if err != nil {
		return err
	}
	for i, m := range all {
		switch {
		case m.Why != "":
			return &Error{Kind: KindSystem, Op: op, Rank: rt.rank, Peer: g.ranks[i], Msg: fmt.Sprintf("rank %d has no NCCL: %s", g.ranks[i], m.Why), Hint: m.Hint}
		case m.Library != all[0].Library:
			return &Error{Kind: KindSystem, Op: op, Rank: rt.rank, Peer: g.ranks[i], Msg: fmt.Sprintf("rank %d has %s, and rank %d has %s", g.ranks[0], all[0].Library, g.ranks[i], m.Library),
				Hint: "set SYMMREPL_NCCL to the same version on all hosts"}
		}
	}
	ctx, cancel := context.WithTimeout(rt.host(), joinLimit)
	defer cancel()
	done := rt.waitOnHost(op, g, g.met)
	c, err := library.Join(ctx, all[0].ID, g.rank, len(g.ranks), sort == byEngines)
	done()
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%s did not connect the ranks of %v within %v; NCCL_DEBUG=INFO tells more", library.Name(), g, joinLimit)
	}
	comm := &communicator{g: g, sort: sort}
	comm.Communicator = nccl.New(library.Name(), c, comm)
	joined := err == nil
	if joined {
		rt.comms.Add(comm)
	}
	if err == nil && rt.backendName() == ncclBackend {
		err = comm.makeAll(ctx)
		if err == nil && sort == byKernels {
			comm.noPuts, err = c.Puts(ctx)
		}
	}
	if _, failed := gatherValues(g, op, "joined", struct{}{}, err); failed != nil {
		if joined {
			comm.End(nil)
		}
		return failed
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	g.comms[sort] = comm
	if rt.abort.Load() != nil { // and whoever raised it may not have seen the communicator
		comm.End(nil)
	}
	return nil
}

// RunNCCL issues an admitted call by the group's communicator. bytes is the size that the way was chosen by.
func (c *Call) RunNCCL(d device.Collective, bytes int) {
	g, rt := c.opts.group, c.rt
	comm := g.comms[c.commSort()]
	if comm == nil || comm.isEnded() {
		panic(&Error{Kind: KindPeer, Op: c.Record.Op, Rank: rt.rank, Peer: -1, Msg: fmt.Sprintf("the communicator of %v was ended", g), Hint: "all ranks must call Recover"})
	}
	err := c.stream.issue(func(s device.Stream) error { return s.Collective(comm.C, d) })
	if t := rt.trace.Load(); t != nil && err == nil {
		t.Crosses(comm.Name, 0)
	}
	c.issued(err)
	why := "the call asks for it by Via"
	if c.opts.via != ViaNCCL {
		why = fmt.Sprintf("the group spans %d hosts", len(g.split.Parts))
	}
	path := comm.Name
	if comm.sort == byEngines {
		path += " by copy engines"
	}
	c.Chose(bytes, &tuning.Way{Path: path, Why: why})
	if rt.capture == nil {
		comm.Watch(nccl.Call{On: resting{c.stream}, ID: c.Record.ID})
	} else if !slices.Contains(rt.capture.comms, comm) {
		rt.capture.comms = append(rt.capture.comms, comm)
	}
}

// waits are the calls that have been under way for some time.
func (c *communicator) waits() (list []Wait) {
	if c.isEnded() {
		return nil
	}
	for _, t := range c.Pending() {
		if call, ok := c.g.rt.find(t.ID); ok && t.Since() > callQuiet && !t.Puts {
			list = append(list, Wait{Op: call.Text(), Ordinal: call.Ordinal, Group: c.g.String(), Peers: c.g.others(), For: c.Name, Since: t.Since(), Caller: call.Caller})
		}
	}
	return list
}

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
func (lostGraph) Close() error               { return nil }

var errLostGraph = errors.New("the graph calls NCCL by a communicator that was ended")

// explainLostNCCL says why a call by NCCL was given up.
func (rt *Runtime) explainLostNCCL(e *Error, c Record) {
	if e.Kind != KindTimeout {
		e.Kind = KindInterrupted
	}
	for _, comm := range rt.comms.All() {
		_, why := comm.Ended()
		if comm.g != c.group || why == nil {
			continue
		}
		e.Kind, e.Hint = KindSystem, "all ranks must call Recover"
		e.Msg = fmt.Sprintf("%s failed: %v", comm.Name, why)
		var failed *device.LibraryError
		if errors.As(why, &failed) {
			e.Err = failed
			if failed.Remote {
				e.Kind = KindPeer
			}
			e.Msg = fmt.Sprintf("%s failed: %s", comm.Name, strings.TrimSuffix(failed.Text, "."))
		}
	}
}
