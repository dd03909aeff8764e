package symmem

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/core/calls"
	"github.com/symmrepl/symmrepl/symmem/internal/core/layout"
	"github.com/symmrepl/symmrepl/symmem/internal/core/nvshmem"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/core/waits"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Waits lists the waits of this rank at this moment: on the device for some time already, or in a
// collective call on the host. It may be called at any time. To waits for ranks on other hosts it
// adds the counts of the network, for which it asks these ranks.
func (rt *Runtime) Waits() []Wait {
	if rt.closed.Load() {
		return nil
	}
	return rt.listWaits(true)
}

// listWaits is Waits; with asking it asks other ranks for their counts of the network.
func (rt *Runtime) listWaits(asking bool) (list []Wait) {
	for r := range waits.Pending(rt.watch) {
		c, peers := rt.parties(&r)
		kind := waits.Of(&r)
		what := kind.What(&r) + c.within()
		if asking {
			what += rt.trafficOf(&c, peers)
		}
		wait := Wait{
			Op: c.Text(), Ordinal: c.Ordinal, Peers: peers, For: what, Since: time.Duration(r.Elapsed), Limit: c.Timeout, Caller: c.Caller,
			Call: c.everywhere(&r), Sure: c.Manner != operators.Alone && c.Manner != operators.Communicating && kind.Calls,
			Seen: r.Began + r.Elapsed, Replayed: c.Replayed(),
		}
		if !wait.Sure {
			if stand, stands := rt.stand(&c); stands {
				wait.Sure, wait.Anyone, wait.Seen = true, true, stand.Looks
			}
		}
		if c.group != nil {
			wait.Group = c.group.String()
		}
		list = append(list, wait)
	}
	for _, p := range rt.parts {
		list = append(list, p.Waits()...)
	}
	for _, w := range rt.calls.Waits() {
		list = append(list, Wait{
			Op: w.Op, Ordinal: w.Ordinal, Group: w.Group, Peers: w.Others, For: "the same call", Since: time.Since(w.Since),
			Caller: w.Caller,
			Sure:   true, Host: true,
		})
	}
	return list
}

// everywhere names the collective call of which r is a wait: the same on all members, and as no
// other call. Barriers of different channels are different calls.
func (c *Record) everywhere(r *device.WaitRecord) string {
	if c.Manner != operators.Collective || c.group == nil {
		return ""
	}
	name := fmt.Sprintf("%s #%d %s %x", c.group.key, c.Ordinal, c.Text(), c.Parts)
	if waits.Of(r).Turns {
		name += fmt.Sprintf(" on channel %d", r.Channel)
	}
	return name
}

// parties returns the call to which a record belongs and the world ranks for which it waits.
func (rt *Runtime) parties(r *device.WaitRecord) (Record, []int) {
	c, ok := rt.find(r.Ordinal)
	if !ok {
		c = Record{Entry: calls.Entry{Made: calls.Made{Op: "a kernel"}, Manner: operators.Communicating}}
	}
	if i := waits.Of(r).Peer(r); i >= 0 && c.group != nil && i < len(c.group.ranks) {
		return c, []int{c.group.ranks[i]}
	}
	return c, nil
}

// takeFault returns the first wait on the device that was given up, or the first value that was
// refused there, since it was called last; nil if there was none. It may run in a goroutine beside
// Recover, which waits until a fault is taken.
func (rt *Runtime) takeFault() *Error {
	rt.taking.Lock()
	defer rt.taking.Unlock()
	f := &rt.watch.Fault
	if v := atomic.SwapUint64(&rt.watch.Absent, 0); v != 0 && atomic.CompareAndSwapUint32(&f.State, device.WaitNone, device.WaitClaimed) {
		waits.Store(f, &device.WaitRecord{State: device.WaitRefused, Kind: abi.NcclPeer, Peer: uint32(v), Want: v>>32 - 1})
	}
	state := atomic.LoadUint32(&f.State)
	for state == device.WaitClaimed { // the kernel is writing it
		time.Sleep(10 * time.Microsecond)
		state = atomic.LoadUint32(&f.State)
	}
	if state == device.WaitNone {
		return nil
	}
	r := waits.Load(f)
	atomic.StoreUint32(&f.State, device.WaitNone)
	rt.gaveUpOnce.Store(true)
	rt.resume()
	c, peers := rt.parties(&r)
	e := &Error{Op: c.Op, Rank: rt.rank, Peer: -1, Caller: c.Caller}
	if len(peers) > 0 {
		e.Peer = peers[0]
	}
	if r.State == device.WaitRefused {
		e.Kind, e.Msg = KindMisuse, fmt.Sprintf("value %d at index %d of rank %d was refused", r.Seen, r.Channel, e.Peer)
		switch {
		case nvshmem.Refuses(&r):
			rt.explainShmem(e, &c, &r)
		case r.Kind >= abi.NcclPeer:
			rt.explainNCCL(e, &r)
		case c.Refused != nil:
			c.Refused(&c, e, &r)
		}
	} else {
		rt.gaveUp(e, c, &r)
		e.Msg += c.within()
	}
	if c.Replay != nil {
		e.Msg += "; captured in a graph"
		e.Replayed = c.Replayed()
	}
	return e
}

// resume lets puts and waits of signals run again after one gave up, which is reported now. It uses
// a stream of its own, because others may hold waits that this process has yet to satisfy. If it
// fails, so will later operations.
func (rt *Runtime) resume() {
	s, err := rt.dev.NewStream()
	if err != nil {
		return
	}
	defer s.Close()
	rt.mu.Lock()
	groups := slices.Clone(rt.groups)
	rt.mu.Unlock()
	for _, g := range groups {
		if g.work.seg != nil {
			s.Set(g.work.seg.Ptr()+device.Ptr(layout.GaveUpAt(g.channels, len(g.ranks))), 0, 4)
		}
	}
	s.Synchronize()
}

// gaveUp completes the error of a wait that ended by deadline, abort or the loss of a rank.
func (rt *Runtime) gaveUp(e *Error, c Record, r *device.WaitRecord) {
	e.Kind = KindTimeout
	waited := time.Duration(r.Elapsed)
	if waited > time.Second {
		waited = waited.Round(10 * time.Millisecond)
	} else {
		waited = waited.Round(time.Millisecond)
	}
	kind := waits.Of(r)
	what := kind.What(r)
	if e.Peer >= 0 {
		what, e.Hint = kind.Of(r, e.Peer), kind.Hint(r, e.Peer)
		if r.Kind == device.WaitSignal || r.Kind == device.WaitNetSignal {
			e.Hint += c.group.elsewhere(e.Peer, int(r.Channel))
		}
	}
	e.Msg = fmt.Sprintf("rank %d waited %v for %s", rt.rank, waited, what)
	if r.State == device.WaitLost {
		e.Kind, e.Hint = KindPeer, "all ranks must call Recover when it was replaced; if it is not, "+survivorsHint
		if e.Msg += ", but " + rt.loss(e.Peer); waited == 0 {
			e.Msg = rt.loss(e.Peer)
		}
	}
	if r.State == device.WaitAborted && rt.vain.Load() {
		e.Kind = KindDeadlock
		if e.Msg += ": " + rt.whyAborted(); kind.Set && kind.Calls {
			e.Hint = "another rank must set it, as by PutWithSignal or SignalAdd"
		}
	} else if r.State == device.WaitAborted {
		e.Kind, e.Hint = KindInterrupted, ""
		e.Msg += ", and gave up: " + rt.whyAborted()
		if gone := rt.gone.Load(); gone != nil {
			e.Kind, e.Peer, e.Hint = KindPeer, *gone, survivorsHint
		}
	}
	if r.Kind == device.WaitLibrary {
		rt.explainLostNCCL(e, c)
	}
	if c.Manner >= operators.Communicating {
		rt.broken.Store(ptr(c.Op + ": " + e.Msg))
	}
}
