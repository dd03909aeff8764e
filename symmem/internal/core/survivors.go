package symmem

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// The ranks that are left
//
// A rank is gone when its process has ended, or its host was lost, and nothing takes its place. Only the hub knows that for certain: calls of the ranks that
// are left (muster) are among those that it knows, so that all of them go on with the same ones. recover begins with such a call. What needs a rank that is gone
// cannot be used from then on, the world included.

// membership is which ranks there are, and where.
type membership struct {
	places  atomic.Pointer[places.Places] // of all ranks; nil while this one joins
	remains atomic.Pointer[[]int]         // the ranks that took part in the last Recover, if there was one
	crowded atomic.Bool                   // kernels of other ranks run beside this one's on the same device
}

// survivorsHint is what to do without ranks that are gone.
const survivorsHint = "symm.Survivors() makes a group of the ranks that are left"

// Survivors makes a group of the ranks that are left: all but those whose processes have ended, or whose hosts were lost, and of which none takes their place.
// It is collective over these ranks; one that goes meanwhile is left out. Where ranks are gone, or waits were given up, it recovers first, among the ranks that are
// left, with all that Recover does: groups and tensors that need a rank which is gone are lost, the world among them, and all others are as new. While nobody is
// gone the group has all ranks. It is freed as a group of NewGroup is. ncclCommShrink of NCCL and MPI_Comm_shrink give the same.
//
// Errors: KindPeer for a rank that does not make the call although it is there, and for one that goes while the group is built: call it again.
func (rt *Runtime) Survivors() *Group {
	const op = "Survivors"
	rt.hostCall(op)
	if rt.places.Load() == nil {
		rt.all.usable(op) // it has not joined
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := func() { cancel() }
	rt.surviving.Store(&stop)
	defer rt.surviving.Store(nil)
	type state struct {
		Trouble bool // a wait was given up
		Left    int  // how many ranks it took to be left
	}
	mine := state{rt.abort.Load() != nil || rt.broken.Load() != nil, len(rt.remaining())}
	done := rt.waitOnHost(op, rt.all, 0)
	left, all, err := muster(ctx, rt, op, "", mine)
	done()
	if err != nil {
		panic(rt.failure(op, err))
	}
	if slices.ContainsFunc(all, func(s state) bool { return s.Trouble || s.Left != len(left) }) {
		if _, err := rt.recover(ctx, op, nil); err != nil {
			panic(err)
		}
		left = rt.remaining()
	}
	return rt.newGroup(op, left)
}

// muster gathers what all ranks that are left have to say, outside the numbering of any group. It returns these ranks and their values.
func muster[T any](ctx context.Context, rt *Runtime, op, desc string, mine T) (left []int, all []T, err error) {
	if rt.client == nil {
		return []int{rt.rank}, []T{mine}, nil
	}
	g := &Group{rt: rt, name: "world", rank: rt.rank}
	all, err = gatherValuesBy(g, op, mine, nil, func(data []byte) (said [][]byte, err error) {
		rt.sanitizer.Publish()
		defer rt.sanitizer.Observe()
		g.ranks, said, err = rt.client.GatherLeft(ctx, bootstrap.Call{Key: "left", Op: op, Desc: desc}, data)
		return said, err
	})
	return g.ranks, all, err
}

// remaining lists the ranks that were left at the last Recover, all if there was none.
func (rt *Runtime) remaining() []int {
	if left := rt.remains.Load(); left != nil {
		return *left
	}
	return rt.all.ranks
}

// whole reports whether no rank is gone, as far as this rank has recovered from that.
func (rt *Runtime) whole() bool { return len(rt.remaining()) == rt.size }

// base is a group of the ranks that are left, by which they meet: the world, or one without memory.
func (rt *Runtime) base() *Group {
	if rt.whole() {
		return rt.all
	}
	left := rt.remaining()
	g := &Group{rt: rt, name: "world", ranks: left, rank: slices.Index(left, rt.rank)}
	g.splitByHost()
	g.renumber("left " + g.listed())
	return g
}

// goingOn says how to go on where ranks are gone, and otherwise what is given.
func (rt *Runtime) goingOn(otherwise string) string {
	if rt.gone.Load() != nil || !rt.whole() {
		return survivorsHint
	}
	return otherwise
}

// howToGoOn says how to communicate again after a wait was given up.
func (rt *Runtime) howToGoOn() string {
	const all = "all ranks must call Recover"
	if hint := rt.goingOn(""); hint != "" {
		return hint
	}
	if n := rt.net.Load(); n != nil && slices.ContainsFunc(n.Engine.Peers(), func(p net.PeerState) bool { return p.State == net.Lost }) {
		return all + "; if some are gone, " + survivorsHint
	}
	return all
}

// others are the elements of all, which is ascending, that part has not.
func others(all, part []int) []int {
	return slices.DeleteFunc(slices.Clone(all), func(r int) bool { return slices.Contains(part, r) })
}
