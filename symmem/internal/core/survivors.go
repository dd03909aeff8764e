package symmem

import (
	"context"
	"slices"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
)

// Survivors makes a group of the ranks that are left: all ranks except ranks whose process has ended
// or whose host was lost, and that no process has replaced. It is collective over the ranks that are
// left; a rank that goes meanwhile is left out. If ranks are gone, or waits were given up, it first
// recovers among the ranks that are left, as Recover does. Groups and tensors that need a missing
// rank are then lost, also the world; all others can be used again. If no rank is gone, the group has
// all ranks. It is freed like a group of NewGroup. NCCL's ncclCommShrink and MPI_Comm_shrink do the
// same.
//
// Errors: KindMismatch for a rank that is left but does not make the call; KindPeer for a rank that
// goes while the group is built: call it again.
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
	return rt.newGroup(op, "", left)
}

// muster gathers a value of each rank that is left, outside the numbering of any group. It returns
// these ranks and their values.
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
