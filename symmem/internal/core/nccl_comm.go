package symmem

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/libraries"
	"github.com/symmrepl/symmrepl/symmem/internal/core/nccl"
	"github.com/symmrepl/symmrepl/symmem/internal/core/waits"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Communicators
//
// A group whose collectives go by NCCL has a communicator of NCCL. The first such call makes it:
// all members meet on the host, compare their versions of NCCL, and join. NCCL's kernels do not
// look at the abort word. So whatever gives up the waits of the world also ends the communicators,
// and with them their kernels; the next call makes another communicator. While a call may be under
// way, a goroutine asks NCCL for failures, and [Runtime.Waits] lists the call.

const (
	failureTick = 10 * time.Millisecond
	callQuiet   = 50 * time.Millisecond // before a call counts as a wait
)

// A group has up to two communicators: one runs its collectives as kernels, the other by copy
// engines, if NCCL can.
const (
	byKernels = iota
	byEngines
	communicatorSorts
)

// communicator is this rank's part of a communicator of a group.
type communicator struct {
	*nccl.Communicator
	g    *Group
	sort int

	resources []resource // in the order in which all members made them; guarded by rt.mu
	noPuts    string     // why NCCL does no puts by it; empty if it does
}

// Mark implements nccl.Stream.
func (s resting) Mark(old nccl.Mark) (nccl.Mark, error) {
	e, _ := old.(*behind)
	if e == nil {
		d, err := s.rt.dev.NewEvent()
		if err != nil {
			return nil, err
		}
		e = &behind{event: d}
	}
	if err := s.record(e.event); err != nil {
		if old == nil {
			e.Close()
		}
		return nil, err
	}
	return e, nil
}

// behind is an event as package nccl sees it. A goroutine that looks after the communicator may ask
// once more after Close.
type behind struct {
	mu     sync.Mutex
	closed bool
	event  device.Event
}

func (e *behind) Reached() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return true
	}
	reached, err := e.event.Reached()
	return reached && err == nil
}

func (e *behind) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	e.event.Close()
}

// GaveUp implements nccl.Owner: the next synchronisation reports the call.
func (c *communicator) GaveUp(t nccl.Call) {
	r := device.WaitRecord{State: device.WaitAborted, Kind: device.WaitLibrary, Ordinal: t.ID, Rank: uint32(c.g.rank),
		Peer: uint32(c.g.rank), Elapsed: uint64(t.Since())}
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

// shares names the members that use the same device, if NCCL has no communicators for such members;
// empty otherwise.
func (g *Group) shares() string {
	if !g.sharesDevices() {
		return ""
	}
	return g.rt.refusesSharing(g.rt.sharing())
}

// refusesSharing returns the reason why NCCL has no communicators for ranks that share devices; ""
// if it has.
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

// ncclKind is NCCL as a library that members join.
var ncclKind = libraries.Kind{Name: "NCCL", Where: "on all hosts"}

// join makes the group's communicator of a sort. It is collective over the group, on the host.
func (g *Group) join(op string, d device.CollectiveDevice, sort int) error {
	rt := g.rt
	library, mine, err := libraries.Open(func() (device.Collectives, error) { return d.Collectives(rt.collectivesSettings()) }, g.rank == 0)
	g.meeting.Lock()
	defer g.meeting.Unlock()
	if rt.hasComm(g, sort) { // by another goroutine's call
		return nil
	}
	id, err := ncclKind.Meet(members{g}, op, "by NCCL", mine, err)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(rt.host(), libraries.Limit)
	defer cancel()
	done := rt.waitOnHost(op, g, g.met)
	c, err := library.Join(ctx, id, g.rank, len(g.ranks), sort == byEngines)
	done()
	err = ncclKind.Late(err, library.Name(), g.String())
	comm := &communicator{g: g, sort: sort}
	comm.Communicator = nccl.New(library.Name(), c, comm)
	return g.keep(ctx, op, comm, err)
}

// keep makes comm the group's communicator of its sort, unless a member could not join it, as err says
// on this rank. It is collective over the group, on the host.
func (g *Group) keep(ctx context.Context, op string, comm *communicator, err error) error {
	rt, joined := g.rt, err == nil
	if joined {
		rt.comms.Add(comm)
	}
	if err == nil && rt.backendName() == ncclBackend {
		err = comm.makeAll(ctx)
		if err == nil && comm.sort == byKernels {
			comm.noPuts, err = comm.C.Puts(ctx)
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
	g.comms[comm.sort] = comm
	if rt.abort.Load() != nil { // and whoever raised it may not have seen the communicator
		comm.End(nil)
	}
	return nil
}

// explainLostNCCL writes into e the reason why a call by NCCL was given up.
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
