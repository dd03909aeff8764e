package symmem

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/core/calls"
	"github.com/symmrepl/symmrepl/symmem/internal/core/copies"
	"github.com/symmrepl/symmrepl/symmem/internal/core/memory"
	"github.com/symmrepl/symmrepl/symmem/internal/core/networks"
	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Group is a set of ranks that communicate: it has signals and inboxes of its own, so that groups never
// disturb each other. A rank that is not a member holds the group too, to name it, and is refused its use.
type Group struct {
	rt       *Runtime
	name     string       // "world", or "0,2"
	ranks    []int        // world ranks, ascending
	rank     int          // this rank's position in ranks, or -1
	split    places.Split // by host
	of       *Group       // the group that this one is a team of, or nil
	sort     string       // of the team
	lsa      *Group       // its teams, as far as they are groups of their own: see team
	rail     *Group
	channels int           // of the signal block
	wired    networks.Span // the group's words among the signals of this rank's board, if it spans hosts
	inboxes  uint32        // their window's id, 0 if there is none
	links    abi.NetGroup
	table    device.Ptr // links, where kernels read it
	work     Workspace
	builds   int                    // times that work was made
	stale    atomic.Pointer[string] // why the group cannot be used any more

	watch   copies.Watch
	meeting sync.Mutex // host-synchronous calls, one at a time
	key     string     // names the group to the hub
	met     uint64     // host-synchronous calls made so far

	// Guarded by rt.mu.
	count  calls.Count // of stream-ordered collective calls
	latest Record      // of these
	allocs uint64      // allocations made
	pool   memory.Pool
	comms  [communicatorSorts]*communicator // nil if none was made yet
	noComm string                           // why none could be

	deviceComms []*DeviceComm // that communicators must have

	last   *Stream
	event  device.Event // reached when the last use of the signals, on last, is over
	marked bool         // event was recorded after that use

	args *[maxArgs / 8]uint64 // of the kernel that is being launched: see ArgsOf
}

// NewGroup makes a group of the ranks given, in ascending order. It is collective over these ranks; any other
// rank may call it too and returns at once with a group it cannot use. Every call makes a new group. Until it is
// freed its inboxes, or those of its LSA team if its ranks are on several hosts, take up to 128 MiB of each member's GPU.
func (rt *Runtime) NewGroup(ranks ...int) *Group {
	const op = "NewGroup"
	rt.hostCall(op)
	return rt.newGroup(op, ranks)
}

// newGroup is NewGroup, for op.
func (rt *Runtime) newGroup(op string, ranks []int) *Group {
	sorted := slices.Sorted(slices.Values(ranks))
	if len(sorted) == 0 {
		panic(rt.misuse(op, "ranks", "", "a group needs at least one rank"))
	}
	rt.checkRanks(op, "ranks", sorted)
	g := &Group{rt: rt, name: places.Joined(sorted), ranks: sorted, rank: slices.Index(sorted, rt.rank)}
	if g.rank < 0 {
		return g
	}
	rt.mu.Lock()
	serial := rt.created[g.name]
	rt.mu.Unlock()
	g.splitByHost()
	g.renumber(fmt.Sprintf("%s#%d", g.listed(), serial))
	g.build(op, g.listed())
	rt.mu.Lock()
	rt.created[g.name] = serial + 1
	rt.groups = append(rt.groups, g)
	rt.mu.Unlock()
	if err := Maybe(func() { g.makeTeams(op) }); err != nil {
		rt.mu.Lock()
		defer rt.mu.Unlock()
		g.discard()
		panic(err)
	}
	return g
}

// checkRanks refuses a sorted list that does not name different ranks of the world.
func (rt *Runtime) checkRanks(op, arg string, sorted []int) {
	for i, r := range sorted {
		if r < 0 || r >= rt.size {
			panic(rt.misuse(op, arg, "", "ranks must be in [0, %d), not %d", rt.size, r))
		}
		if i > 0 && sorted[i-1] == r {
			panic(rt.misuse(op, arg, "name it once", "rank %d is named twice", r))
		}
	}
}

// renumber starts the numbering of calls anew, under a key that no earlier call had. It needs rt.generation to
// be stable.
func (g *Group) renumber(name string) {
	g.key = fmt.Sprintf("%s@%d", name, g.rt.generation)
	g.count, g.latest = calls.Count{}, Record{}
	g.met, g.allocs, g.last, g.marked = 0, 0, nil, false
}

// listed names the members, short where they are many, as all members send it to the hub.
func (g *Group) listed() string { return bootstrap.FormatRanks(g.ranks) }

// exists refuses a group that nobody made.
func (g *Group) exists(op string) {
	if g == nil || g.rt == nil {
		panic(nilArgument(op, "group"))
	}
}

// Rank is this rank's number in the group, or -1.
func (g *Group) Rank() int {
	g.exists("Rank")
	return g.rank
}

// Size is the number of members.
func (g *Group) Size() int {
	g.exists("Size")
	return len(g.ranks)
}

// Ranks lists the members as world ranks, ascending. The index is the rank in the group.
func (g *Group) Ranks() []int {
	g.exists("Ranks")
	return slices.Clone(g.ranks)
}

// Channels is the number of channels that Barrier, PutSignal and WaitSignal have in this group.
func (g *Group) Channels() int {
	g.exists("Channels")
	return g.channels
}

// String is "world", "group 0,2", or of a team "LSA team 0,1" or "rail 0,2".
func (g *Group) String() string {
	switch {
	case g == nil || g.rt == nil:
		return "nil group"
	case g == g.rt.all:
		return "world"
	case g.of != nil:
		return g.sort + " " + g.name
	}
	return "group " + g.name
}

// Free gives the memory of the group and of its teams back. It is collective over the group; tensors that were allocated by them must
// be freed before. The world cannot be freed, nor a team without its group. On a rank that is not a member it does nothing.
func (g *Group) Free() {
	const op = "Group.Free"
	g.exists(op)
	rt := g.rt
	switch {
	case g == rt.all:
		panic(rt.misuse(op, "", "", "the world cannot be freed"))
	case g.of == rt.all:
		panic(rt.misuse(op, "", "", "the %v is a team of the world and cannot be freed", g))
	case g.of != nil:
		panic(rt.misuse(op, "", fmt.Sprintf("free %v, which ends its teams too", g.top()), "the %v is a team of %v", g, g.of))
	}
	rt.hostCall(op)
	if g.rank < 0 {
		return
	}
	rt.mu.Lock()
	stale := g.stale.Load()
	if !slices.Contains(rt.groups, g) {
		rt.mu.Unlock()
		panic(rt.misuse(op, "group", hintFor("group"), "%v was freed already", g))
	}
	for _, a := range rt.allocs {
		if stale == nil && a.group.within(g) {
			rt.mu.Unlock()
			panic(rt.misuse(op, "", "free its tensors first", "tensor %s of %v is still allocated", a.desc, a.group))
		}
	}
	rt.mu.Unlock()
	rt.synchronize(op)
	if stale == nil {
		g.usable(op)
		if g.split.Spans() {
			rt.fence(op) // signals of its words, and data for its windows
		}
		g.meet(op, g.listed(), nil)
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	g.discard()
}

// discard gives up the group and its teams, and their memory. rt.mu is held.
func (g *Group) discard() {
	rt := g.rt
	var ended []*Group
	rt.groups = slices.DeleteFunc(rt.groups, func(o *Group) bool {
		if o.within(g) {
			ended = append(ended, o)
		}
		return o.within(g)
	})
	for _, o := range ended {
		o.stale.CompareAndSwap(nil, ptr("it was freed"))
		for _, a := range rt.allocs {
			a.handles = slices.DeleteFunc(a.handles, func(h *Handle) bool { return h.g == o })
			a.conceal(o) // its memory stays
		}
		o.unwire()
		o.emptyPool()
		o.watch.Forget()
		o.work.release()
		for _, c := range o.comms {
			if c != nil {
				c.End(nil)
			}
		}
		if o.event != nil {
			o.event.Close() // a failure leaks an event and is no reason to fail
			o.event = nil
		}
	}
}

// usable refuses the use of a group that is not this rank's, or not any more.
func (g *Group) usable(op string) {
	g.rt.refuseClosed(op)
	if g.rank < 0 {
		panic(g.rt.misuse(op, "group", "call it on its members only", "rank %d is not in %v", g.rt.rank, g))
	}
	if why := g.stale.Load(); why != nil {
		panic(&Error{Kind: KindPeer, Op: op, Rank: g.rt.rank, Peer: -1, Arg: "group", Msg: fmt.Sprintf("%v cannot be used: %s", g, *why), Hint: g.rt.goingOn("make a new one")})
	}
}

// peer translates a rank of the group, which must be one of its members.
func (g *Group) peer(op, arg string, rank int) int {
	if rank < 0 || rank >= len(g.ranks) {
		e := g.rt.misuse(op, arg, "", "%s must be in [0, %d), not %d", arg, len(g.ranks), rank)
		panic(e)
	}
	return g.ranks[rank]
}

// meet makes a host-synchronous collective call: it returns everybody's data, in group order, or panics on
// all members alike.
func (g *Group) meet(op, desc string, data []byte) [][]byte {
	g.meeting.Lock()
	defer g.meeting.Unlock()
	all, err := g.gather(op, desc, data)
	if err != nil {
		panic(g.rt.failure(op, err))
	}
	return all
}

// gather is meet with an error, for a holder of g.meeting.
func (g *Group) gather(op, desc string, data []byte) ([][]byte, error) {
	if g.rt.client == nil {
		return [][]byte{data}, nil
	}
	if err := g.takePart(op); err != nil {
		return nil, err
	}
	done := g.rt.waitOnHost(op, g, g.met)
	defer done()
	g.rt.sanitizer.Publish()
	all, err := g.rt.client.Gather(g.rt.host(), g.call(op, desc), data)
	if err == nil {
		g.rt.sanitizer.Observe()
		g.met++
	}
	return all, err
}

// gatherFiles passes descriptors instead of bytes, among the members on this rank's host. If this rank is the only one, there are none.
func (g *Group) gatherFiles(op, desc string, f *os.File) ([]*os.File, error) {
	if len(g.split.Here()) == 1 {
		g.met++ // as all others
		return nil, nil
	}
	done := g.rt.waitOnHost(op, g, g.met)
	defer done()
	call := g.call(op, desc)
	if g.split.Spans() {
		call.Group, call.Key = g.split.Here(), call.Key+"/host of "+bootstrap.FormatRanks(g.split.Here())
	}
	g.rt.sanitizer.Publish()
	files, err := g.rt.client.GatherFiles(g.rt.host(), call, f)
	if err == nil {
		g.rt.sanitizer.Observe()
		g.met++
	}
	return files, err
}

func (g *Group) call(op, desc string) bootstrap.Call {
	g.rt.mu.Lock()
	defer g.rt.mu.Unlock()
	return bootstrap.Call{Group: g.ranks, Key: g.key, Ordinal: g.met, Op: op, Desc: desc + g.pool.History()}
}

// gatherValues exchanges a value of each member together with the error that befell it. If any had one, all get it.
// A holder of g.meeting calls it.
func gatherValues[T any](g *Group, op, desc string, mine T, failed error) ([]T, error) {
	return gatherValuesBy(g, op, mine, failed, func(data []byte) ([][]byte, error) { return g.gather(op, desc, data) })
}

// gatherValuesBy is gatherValues by another way of gathering.
func gatherValuesBy[T any](g *Group, op string, mine T, failed error, gather func([]byte) ([][]byte, error)) ([]T, error) {
	type report struct {
		Value T
		Err   string
	}
	r := report{Value: mine}
	if failed != nil {
		r.Err = failed.Error()
	}
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	all, err := gather(data)
	if failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	values := make([]T, len(all))
	for i, data := range all {
		var r report
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("rank %d answered %q: %w", g.ranks[i], data, err)
		}
		if r.Err != "" {
			return nil, &Error{Kind: KindPeer, Op: op, Rank: g.rt.rank, Peer: g.ranks[i], Msg: fmt.Sprintf("rank %d could not: %s", g.ranks[i], r.Err)}
		}
		values[i] = r.Value
	}
	return values, nil
}
