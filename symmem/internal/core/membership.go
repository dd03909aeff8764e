package symmem

import (
	"slices"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// The ranks that are left
//
// A rank is gone when its process has ended, or its host was lost, and no process takes its place.
// Only the hub knows that for certain. recover begins with a call of all ranks that are left
// (muster), in which the hub decides which ranks these are, so that all of them go on with the same
// ones. Groups and tensors that need a rank that is gone cannot be used from then on, the world
// included.

// membership holds the ranks of the world and their places.
type membership struct {
	places  atomic.Pointer[places.Places] // of all ranks; nil while this one joins
	remains atomic.Pointer[[]int]         // the ranks that took part in the last Recover, if there was one
	crowded atomic.Bool                   // kernels of other ranks run beside this one's on the same device
}

// survivorsHint is the hint of errors about ranks that are gone.
const survivorsHint = "symm.Survivors() makes a group of the ranks that are left"

// remaining lists the ranks that were left at the last Recover, all if there was none.
func (rt *Runtime) remaining() []int {
	if left := rt.remains.Load(); left != nil {
		return *left
	}
	return rt.all.ranks
}

// whole reports whether no rank is gone, as far as this rank has recovered from that.
func (rt *Runtime) whole() bool { return len(rt.remaining()) == rt.size }

// base is a group of the ranks that are left, in which they meet: the world, or a group without
// memory.
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

// goingOn returns the hint for a world in which ranks are gone, and otherwise the one that is
// given.
func (rt *Runtime) goingOn(otherwise string) string {
	if rt.gone.Load() != nil || !rt.whole() {
		return survivorsHint
	}
	return otherwise
}

// howToGoOn returns the hint how to communicate again after a wait was given up.
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
