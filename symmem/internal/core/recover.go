package symmem

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/symmem/internal/core/calls"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Recover makes communication possible again after waits were aborted or timed out, or ranks were
// replaced. It is collective over all ranks that are left. The ranks in replaced are new processes,
// whose worlds were made with Config.Joining. Recover waits for all work, sets signals, signal pads
// and inboxes to zero ([Runtime.ClearedSignals] lists the signals that were set), restarts the
// numbering of calls, empties memory pools, and ends the abort. Tensors keep their data.
//
// Groups with a replaced rank cannot be used any more, and symmetric tensors with a part on it can
// only be read and freed; lost names them. The same holds for groups and tensors of a rank that is
// gone: its process has ended, or its host was lost, and no process replaces it. The world is one of
// these groups; Survivors makes a group of the ranks that are left. If ctx is cancelled, Recover
// gives up, and the world is still aborted.
func (rt *Runtime) Recover(ctx context.Context, replaced []int) (lost []string, err error) {
	const op = "Recover"
	if err := rt.checkRecover(op, ctx, replaced); err != nil {
		return nil, err
	}
	return rt.recover(ctx, op, replaced)
}

// recover is Recover, for op.
func (rt *Runtime) recover(ctx context.Context, op string, replaced []int) (lost []string, err error) {
	rt.abortWaits("the world is being recovered")
	rt.drain() // its errors were reported, or belong to work that is given up here
	var poisoned *device.DriverError
	if err := rt.drain(); errors.As(err, &poisoned) && poisoned.Poisoned {
		return nil, rt.failure(op, err)
	}
	for _, p := range rt.parts {
		p.Drained()
	}
	atomic.StoreUint32(&rt.watch.Ended, 0)
	atomic.StoreUint32(&rt.watch.Fault.State, device.WaitNone)
	for i := range rt.watch.Waits {
		atomic.StoreUint32(&rt.watch.Waits[i].State, device.WaitNone)
	}
	desc := fmt.Sprintf("ranks %v replaced", replaced)
	if len(replaced) == 0 {
		desc = ""
	}
	// No rank's kernels may run while the signals are cleared, nor before all ranks have cleared
	// theirs.
	done := rt.calls.Wait(calls.Wait{Op: op, Group: rt.all.String(), Others: rt.all.others()})
	left, generations, err := muster(ctx, rt, op, desc, rt.generation)
	done()
	if err != nil {
		return nil, rt.failure(op, err)
	}
	meet := &Group{rt: rt, name: "world", ranks: left, rank: slices.Index(left, rt.rank),
		key: fmt.Sprintf("recover %d", slices.Max(generations))}
	gather := func(step string, value int, failed error) ([]int, error) {
		if rt.client == nil {
			return []int{value}, failed
		}
		return gatherWithout(ctx, meet, op, step, value, failed)
	}
	rt.keepUnawaited()
	rt.remains.Store(&left)
	loss := seam.Loss{Replaced: replaced, Gone: others(rt.all.ranks, left)}
	lost = rt.lose(loss)
	rt.renumber(slices.Max(generations) + 1)
	var failed error
	for _, p := range rt.parts {
		failed = errors.Join(failed, p.Settle(loss))
	}
	if failed == nil {
		failed = rt.clear()
	}
	if _, err := gather("cleared", 0, failed); err != nil {
		return lost, rt.failure(op, err)
	}
	rt.renewHostContext()
	if len(replaced) > 0 {
		if err := rt.rebuild(ctx); err != nil {
			return lost, err
		}
	}
	rt.taking.Lock()
	rt.broken.Store(nil)
	rt.gone.Store(nil)
	rt.gaveUpOnce.Store(false)
	rt.taking.Unlock()
	atomic.AndUint32(&rt.watch.Abort, ^uint32(device.WatchAbort))
	rt.abort.Store(nil)
	rt.vain.Store(false)
	if rt.host().Err() != nil { // Abort was called meanwhile
		rt.Abort("interrupted")
		return lost, rt.failure(op, context.Canceled)
	}
	// A rank may communicate only when no other is still aborted.
	if _, err := gather("done", 0, nil); err != nil {
		return lost, rt.failure(op, err)
	}
	return lost, nil
}

// checkRecover refuses arguments of Recover.
func (rt *Runtime) checkRecover(op string, ctx context.Context, replaced []int) error {
	return Maybe(func() {
		rt.refuseClosed(op)
		rt.needContext(op, ctx)
		rt.checkRanks(op, "replaced", slices.Sorted(slices.Values(replaced)))
	})
}

// gatherWithout is gatherValues for Recover, without the numbering of a group's calls.
func gatherWithout(ctx context.Context, g *Group, op, desc string, value int, failed error) ([]int, error) {
	g.met++
	return gatherValuesBy(g, op, value, failed, func(data []byte) ([][]byte, error) {
		g.rt.sanitizer.Publish()
		defer g.rt.sanitizer.Observe()
		return g.rt.client.Gather(ctx, bootstrap.Call{Group: g.ranks, Key: g.key, Ordinal: g.met, Op: op, Desc: desc}, data)
	})
}

// renumber starts the numbering of all groups anew.
func (rt *Runtime) renumber(generation int) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.generation = generation
	clear(rt.created)
	serials := map[string]int{}
	for _, g := range rt.groups {
		if g == rt.all {
			g.renumber(g.name)
			continue
		}
		if g.stale.Load() == nil {
			g.renumber(fmt.Sprintf("%s#kept%d", g.listed(), serials[g.name]))
			serials[g.name]++
		}
	}
}

// clear zeroes this rank's signals, inboxes and signal pads, and waits for it.
func (rt *Runtime) clear() error {
	rt.mu.Lock()
	err := rt.first.issue(func(d device.Stream) (err error) {
		for i := 0; i < len(rt.parts) && err == nil; i++ {
			err = rt.parts[i].Clear(d)
		}
		return err
	})
	rt.mu.Unlock()
	if err != nil {
		return err
	}
	return rt.first.issue(func(d device.Stream) error { return d.Synchronize() })
}

// rebuild builds the workspaces of the world and of its stale teams again, with the replaced ranks.
// While ranks are gone, the world gets no workspace; the ranks that are left only find out where
// they are, and connect.
func (rt *Runtime) rebuild(ctx context.Context) error {
	defer context.AfterFunc(ctx, rt.hostCtx.Load().cancel)()
	rt.all.unbuild()
	if rt.whole() {
		rt.all.stale.Store(nil)
	}
	err := Maybe(func() { rt.buildWorld("Recover") })
	if err != nil {
		rt.all.stale.Store(ptr("it could not be built again: " + err.(*Error).Msg))
	}
	return err
}
