package symmem

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/symmem/internal/core/calls"
	"github.com/symmrepl/symmrepl/symmem/internal/core/copies"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/memory"
	"github.com/symmrepl/symmrepl/symmem/internal/core/networks"
	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Group is a set of ranks that communicate. It has signals and inboxes of its own, so groups never
// disturb each other. A rank that is not a member has a Group value as well, but cannot use it.
type Group struct {
	rt       *Runtime
	title    string       // of NewNamedGroup, or empty
	name     string       // "world", or "0,2"
	ranks    []int        // world ranks, ascending
	rank     int          // this rank's position in ranks, or -1
	split    places.Split // by host
	of       *Group       // the group that this one is a team of, or nil
	sort     string       // of the team
	lsa      *Group       // its teams, as far as they are groups of their own: see team
	rail     *Group
	channels int             // of the signal block
	wired    networks.Wiring // of a group that spans hosts
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
	spares spares      // unheld.go
	pool   memory.Pool
	engine bool                             // CopyEngine is the default
	stands []*Tensor                        // symmetric memory for ordinary tensors of collectives: operands.go
	comms  [communicatorSorts]*communicator // nil if none was made yet
	noComm string                           // why none could be

	deviceComms []*DeviceComm // that communicators must have

	last    *Stream
	crossed bool         // the signals have been used on several streams
	event   device.Event // reached when the last use of the signals, on last, is over
	marked  bool         // event was recorded after that use

	args *launch.Arguments // of the kernel that is being launched: see ArgsOf
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

// listed names the members in short, for calls to the hub.
func (g *Group) listed() string { return bootstrap.FormatRanks(g.ranks) }

// exists refuses a nil group.
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

// SetCopyEngine makes CopyEngine the default of the group's collectives that take it, or no longer: an
// AllGather, AllToAll or ReduceScatter that copy engines can do goes that way, and any other as it
// does without the option. All members must set the same. Groups that NewGroup makes later begin
// with the setting of the world.
func (g *Group) SetCopyEngine(on bool) {
	const op = "SetCopyEngine"
	g.exists(op)
	g.usable(op)
	g.rt.mu.Lock()
	defer g.rt.mu.Unlock()
	g.engine = on
}

// Name is the name that NewNamedGroup gave the group, "world" for the group of all ranks, and empty
// for other groups.
func (g *Group) Name() string {
	g.exists("Name")
	if g == g.rt.all {
		return worldName
	}
	return g.title
}

// String is "world", "group 0,2", for a group with a name "group tp (0,2)", or of a team "LSA team
// 0,1" or "rail 0,2".
func (g *Group) String() string {
	switch {
	case g == nil || g.rt == nil:
		return "nil group"
	case g == g.rt.all:
		return "world"
	case g.of != nil:
		return g.sort + " " + g.name
	}
	if g.title != "" {
		return fmt.Sprintf("group %s (%s)", g.title, g.name)
	}
	return "group " + g.name
}

// usable refuses a group that this rank is not in, or that was freed or lost members.
func (g *Group) usable(op string) {
	g.rt.refuseClosed(op)
	if g.rank < 0 {
		panic(g.rt.misuse(op, "group", "call it on its members only", "rank %d is not in %v", g.rt.rank, g))
	}
	if why := g.stale.Load(); why != nil {
		panic(&Error{Kind: KindPeer, Op: op, Rank: g.rt.rank, Peer: -1, Arg: "group",
			Msg: fmt.Sprintf("%v cannot be used: %s", g, *why), Hint: g.rt.goingOn("make a new one")})
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

// others are the world ranks of the other members.
func (g *Group) others() []int {
	return slices.DeleteFunc(g.Ranks(), func(r int) bool { return r == g.rt.rank })
}

// others are the elements of all, which is ascending, that part has not.
func others(all, part []int) []int {
	return slices.DeleteFunc(slices.Clone(all), func(r int) bool { return slices.Contains(part, r) })
}

// renumber starts the numbering of calls anew, under a key that no earlier call had. It needs
// rt.generation to be stable.
func (g *Group) renumber(name string) {
	g.key = fmt.Sprintf("%s@%d", name, g.rt.generation)
	g.count, g.latest = calls.Count{}, Record{}
	g.met, g.allocs, g.last, g.marked = 0, 0, nil, false
}

// lsaCall names the LSA team of g in hints. For the world it is "g.LSA()"; a session that has no
// variable g replaces it by symm.LSA().
func (g *Group) lsaCall() string {
	if g == g.rt.all {
		return "g.LSA()"
	}
	return "the LSA() of " + g.String()
}

// worldName is the name of the group of all ranks.
const worldName = "world"
