package symmem

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
)

// cell describes the session's cell that runs. In a program it stays zero.
type cell struct {
	run  atomic.Uint64         // its number
	only atomic.Pointer[[]int] // the ranks on which it runs; nil: all
}

// Begin marks the beginning of cell number run of a session, any number: all ranks have finished
// the cells of smaller numbers. The sanitizer and the trace use it; programs need not call it.
// After Close it does nothing.
func (rt *Runtime) Begin(run uint64) {
	rt.run.Store(run)
	if rt.closed.Load() {
		return
	}
	for _, o := range rt.following() {
		o.began(run)
	}
}

// Confine restricts the session's cell to these ranks until Finish returns; without ranks, the cell
// runs on all. Meanwhile a collective call that needs other ranks is refused, since those ranks
// will not make it. Programs need not call it.
//
// Errors: KindMisuse for ranks that are not ranks of the world, or named twice.
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

// Finish waits for all work of this rank and returns the first fault of it: an *Error, or nil.
// Cancelling ctx aborts.
func (rt *Runtime) Finish(ctx context.Context) error {
	const op = "Finish"
	if err := Maybe(func() { rt.refuseClosed(op); rt.needContext(op, ctx) }); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { rt.Abort("interrupted") })()
	defer rt.calls.Drained()
	defer rt.only.Store(nil)
	defer func() {
		for _, o := range rt.following() {
			o.ended(rt.run.Load())
		}
	}()
	return Maybe(func() { rt.synchronize("Synchronize") })
}
