package symmem

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
)

// cell is the session's cell that runs, as far as a world has to know of it. In a program it stays zero.
type cell struct {
	run  atomic.Uint64         // its number
	only atomic.Pointer[[]int] // the ranks that it runs on; nil: all
}

// Begin says that a cell of a session begins here, whose number is run, any: all ranks have finished those of smaller numbers. The sanitizer needs to know;
// programs need not call it. After Close it does nothing.
func (rt *Runtime) Begin(run uint64) {
	rt.run.Store(run)
	if !rt.closed.Load() {
		rt.sanitizer.Begun(run)
	}
}

// Confine says that the session's cell runs on these ranks only, until Finish returns; without ranks, that it runs on all. A collective call that needs others is
// refused meanwhile, since they will not make it. Programs need not call it.
//
// Errors: KindMisuse for ranks that are no different ones of the world.
func (rt *Runtime) Confine(ranks []int) {
	const op = "Confine"
	rt.refuseClosed(op)
	rt.checkRanks(op, "ranks", ranks)
	rt.only.Store(nil)
	if len(ranks) > 0 {
		rt.only.Store(ptr(slices.Clone(ranks)))
	}
}

// mustTakePart refuses a collective call on g if the session's cell does not run on all members.
func (g *Group) mustTakePart(op string) {
	if err := g.takePart(op); err != nil {
		panic(err)
	}
}

// takePart is mustTakePart with an error, an *Error or nil.
func (g *Group) takePart(op string) error {
	only := g.rt.only.Load()
	if only == nil {
		return nil
	}
	missing := slices.DeleteFunc(g.Ranks(), func(r int) bool { return slices.Contains(*only, r) })
	if len(missing) == 0 {
		return nil
	}
	hint := fmt.Sprintf("run the cell on all members of %v", g)
	if len(*only) > 1 {
		hint += fmt.Sprintf(", or give the call a group of those it runs on: symm.NewGroup(%s)", places.Joined(*only))
	}
	return g.rt.misuse(op, "", hint, "rank %s must make this call too, and the cell does not run there", bootstrap.FormatRanks(missing))
}

// Finish waits for all work of this rank and returns the first fault of it: an *Error, or nil. Cancelling ctx
// aborts.
func (rt *Runtime) Finish(ctx context.Context) error {
	const op = "Finish"
	if err := Maybe(func() { rt.refuseClosed(op); rt.needContext(op, ctx) }); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { rt.Abort("interrupted") })()
	defer rt.calls.Drained()
	defer rt.only.Store(nil)
	defer func() { rt.sanitizer.Ended(rt.run.Load()) }()
	return Maybe(func() { rt.synchronize("Synchronize") })
}
