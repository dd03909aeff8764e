package symmem

import (
	"context"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// aborting holds the reason why this rank's waits must end, and the state that ended waits have
// left. In peace all fields but hostCtx are zero.
type aborting struct {
	abort      atomic.Pointer[string] // why waits must end; nil in peace
	vain       atomic.Bool            // the reason: they cannot end by themselves
	gone       atomic.Pointer[int]    // the rank of this host whose process has ended, if that is the reason
	broken     atomic.Pointer[string] // the collective operation that was given up: signals may be out of step
	gaveUpOnce atomic.Bool            // a wait was given up since the signals were last in step
	hostCtx    atomic.Pointer[hostContext]
	surviving  atomic.Pointer[func()] // ends the Survivors that is under way
}

// hostContext ends the host-side waits of one peaceful period.
type hostContext struct {
	ctx    context.Context
	cancel context.CancelFunc
}

// Abort ends every wait of this rank, on the device and on the host, now and until Recover: calls
// that would wait are refused. why, any text, completes "gave up:". It returns at once and may be
// called at any time; after Close it does nothing.
func (rt *Runtime) Abort(why string) {
	if !rt.closed.Load() {
		rt.giveUp(why)
	}
}

// EndWaits is Abort for waits that cannot end by themselves: their errors are of KindDeadlock and
// say what to do. why, any text, gives the reason why no other rank ends them: "rank 1 has finished
// the cell".
func (rt *Runtime) EndWaits(why string) {
	if !rt.closed.Load() && rt.abort.Load() == nil {
		rt.vain.Store(true)
		rt.giveUp(why)
	}
}

func (rt *Runtime) giveUp(why string) {
	rt.abortWaits(why)
	if stop := rt.surviving.Load(); stop != nil {
		(*stop)()
	}
}

// abortWaits ends all waits but a call of Survivors.
func (rt *Runtime) abortWaits(why string) {
	rt.abort.CompareAndSwap(nil, &why)
	atomic.OrUint32(&rt.watch.Abort, device.WatchAbort)
	rt.hostCtx.Load().cancel()
	for _, p := range rt.parts {
		p.GiveUp()
	}
}

func (rt *Runtime) whyAborted() string {
	if why := rt.abort.Load(); why != nil {
		return *why
	}
	return "interrupted"
}

// host returns the context that ends host-side waits.
func (rt *Runtime) host() context.Context { return rt.hostCtx.Load().ctx }

func (rt *Runtime) renewHostContext() {
	ctx, cancel := context.WithCancel(context.Background())
	rt.hostCtx.Store(&hostContext{ctx, cancel})
}
