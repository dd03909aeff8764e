package symmem

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/tokens"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// hostWait is a collective call that the host is in.
type hostWait struct {
	op      string
	group   *Group
	ordinal uint64
	caller  int
	since   time.Time
}

// waitOnHost registers a host-side wait of a member of g until the function it returns is called.
func (rt *Runtime) waitOnHost(op string, g *Group, ordinal uint64) (done func()) {
	l := &rt.calls
	traced := func() {}
	if t := rt.trace.Load(); t != nil {
		traced = t.meets(op, g.others())
	}
	h := &hostWait{op, g, ordinal, l.caller(), time.Now()}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.host = append(l.host, h)
	rt.moves.Add(1)
	return func() {
		traced()
		rt.moves.Add(1)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.host = slices.DeleteFunc(l.host, func(o *hostWait) bool { return o == h })
	}
}

// others are the world ranks of the other members.
func (g *Group) others() []int {
	return slices.DeleteFunc(g.Ranks(), func(r int) bool { return r == g.rt.rank })
}

// Wait is one thing this rank waits for.
type Wait struct {
	Op       string // "wait_signal", "Rendezvous"
	Ordinal  uint64 // of a collective call in its group, from 1; 0 of any other
	Group    string // "world", or "group 0,2"
	Peers    []int  // world ranks it waits for
	For      string // "a signal on channel 3"
	Since    time.Duration
	Limit    time.Duration // after which it gives up by itself; 0: never
	Caller   int           // where the call was made, as Config.Caller said
	Replayed int           // where the graph was replayed last that captured the call, likewise; 0 if none did

	// Call is what a collective call is called on all members, and nothing else is; empty if it is none.
	Call string
	// Sure says that only what the Peers do in calls of their own ends the wait, or any other rank if there are none: it is of an operation, and for a signal or a
	// call, not of a kernel of the user's, nor for the network, a library or a copy.
	Sure bool
	Host bool   // the wait is of a collective call that meets on the host
	Seen uint64 // when who waits has looked in vain last, in nanoseconds by a clock of its own; 0 on the host
}

// Waits lists what this rank waits for at this moment: on the device for some time already, or in a
// collective call on the host. It may be called at any time. Of waits for ranks on other hosts it tells what they say of the network, which it asks them first.
func (rt *Runtime) Waits() []Wait {
	if rt.closed.Load() {
		return nil
	}
	return rt.listWaits(true)
}

// listWaits is Waits, with or without what others say of the network.
func (rt *Runtime) listWaits(asking bool) (list []Wait) {
	for i := range rt.watch.Waits {
		r := loadRecord(&rt.watch.Waits[i])
		if r.State != device.WaitPending {
			continue
		}
		c, peers := rt.parties(&r)
		what := awaited(&r)
		if asking {
			what += rt.trafficOf(&c, peers)
		}
		wait := Wait{
			Op: c.text(), Ordinal: c.ordinal, Peers: peers, For: what, Since: time.Duration(r.Elapsed), Limit: c.timeout, Caller: c.caller,
			Call: c.everywhere(&r), Sure: c.Manner != operators.Alone && c.Manner != operators.Communicating && forCalls(r.Kind), Seen: r.Began + r.Elapsed,
		}
		if c.replayed != nil {
			wait.Replayed = int(c.replayed.Load())
		}
		if c.group != nil {
			wait.Group = c.group.String()
		}
		list = append(list, wait)
	}
	for _, c := range rt.comms.all() {
		list = append(list, c.waits()...)
	}
	rt.calls.mu.Lock()
	defer rt.calls.mu.Unlock()
	for _, h := range rt.calls.host {
		list = append(list, Wait{
			Op: h.op, Ordinal: h.ordinal, Group: h.group.String(), Peers: h.group.others(), For: "the same call", Since: time.Since(h.since), Caller: h.caller,
			Sure: true, Host: true,
		})
	}
	return list
}

// forCalls reports whether a kind of wait of an operation ends by what ranks do in calls of their own, and by nothing else.
func forCalls(kind uint32) bool {
	switch kind {
	case device.WaitSignal, device.WaitConsumed, device.WaitPacket, device.WaitWord, device.WaitBarrier, device.WaitNetSignal, device.WaitNetBarrier,
		device.WaitNetChunk, device.WaitNetUsed, device.WaitNetRows, device.WaitNetTokens:
		return true
	}
	return false
}

// everywhere names a collective call of which r is a wait, as all members do and no other call is named. Barriers of different channels are different calls.
func (c *Record) everywhere(r *device.WaitRecord) string {
	if c.Manner != operators.Collective || c.group == nil {
		return ""
	}
	name := fmt.Sprintf("%s #%d %s %x", c.group.key, c.ordinal, c.text(), c.Parts)
	if r.Kind == device.WaitBarrier || r.Kind == device.WaitNetBarrier {
		name += fmt.Sprintf(" on channel %d", r.Channel)
	}
	return name
}

// parties says which call a record belongs to and the world ranks it waits for.
func (rt *Runtime) parties(r *device.WaitRecord) (Record, []int) {
	c, ok := rt.find(r.Ordinal)
	if !ok {
		c = Record{op: "a kernel", Manner: operators.Communicating}
	}
	switch r.Kind {
	case device.WaitLowLatency:
		return c, nil // whoever sets it
	case device.WaitWord, device.WaitNetFlush, device.WaitCounter, device.WaitLibrary, device.WaitGinSignal, device.WaitGinCounter:
		if r.Peer == r.Rank {
			return c, nil // whoever sets it, or all peers
		}
	}
	if c.group != nil && int(r.Peer) < len(c.group.ranks) {
		return c, []int{c.group.ranks[r.Peer]}
	}
	return c, nil
}

// awaited says what a wait is for, after "for".
func awaited(r *device.WaitRecord) string {
	switch r.Kind {
	case device.WaitSignal, device.WaitNetSignal:
		return fmt.Sprintf("a signal on channel %d", r.Channel)
	case device.WaitConsumed:
		return fmt.Sprintf("the previous signal on channel %d to be consumed", r.Channel)
	case device.WaitBarrier, device.WaitNetBarrier:
		return fmt.Sprintf("the barrier on channel %d", r.Channel)
	case device.WaitLSABarrier:
		return fmt.Sprintf("LSA barrier %d", r.Channel)
	case device.WaitGinSignal:
		return fmt.Sprintf("GIN signal %d to become %d; it is %d", r.Channel, r.Want, r.Seen)
	case device.WaitGinCounter:
		return fmt.Sprintf("GIN counter %d to become %d; it is %d", r.Channel, r.Want, r.Seen)
	case device.WaitLowLatency:
		return fmt.Sprintf("a value in low-latency slot %d", r.Channel)
	case device.WaitNetCounter:
		return fmt.Sprintf("data to travel over the network, by operation %d of this rank; %d are over", r.Want, r.Seen)
	case device.WaitNetChunk:
		return fmt.Sprintf("chunk %d, between hosts", r.Want)
	case device.WaitNetUsed:
		return fmt.Sprintf("room for chunk %d, between hosts", r.Want)
	case device.WaitNetRows:
		return "rows, between hosts"
	case device.WaitNetTokens:
		return netTokens[r.Channel%tokens.Words] + ", between hosts"
	case device.WaitNetFlush:
		return fmt.Sprintf("the network to be done with %d operations of this rank; %d are over", r.Want, r.Seen)
	case device.WaitCounter:
		return fmt.Sprintf("counter %d to become %d, by operations of this rank; it is %d", r.Channel, r.Want, r.Seen)
	case device.WaitPacket:
		return fmt.Sprintf("packet %d of block %d", r.Want, r.Channel)
	case device.WaitCopy:
		return "it to come to the copies"
	case device.WaitCopied:
		return "it to be done with its copies"
	case device.WaitWord:
		return fmt.Sprintf("signal word %d to become %d; it is %d", r.Channel, r.Want, r.Seen)
	case device.WaitLibrary:
		return "NCCL"
	case device.WaitUser:
		return fmt.Sprintf("a word of its kernel to become %d; it is %d", r.Want, r.Seen)
	}
	return "something in a kernel of yours"
}

// netTokens is what ranks of a token switch wait for.
var netTokens = [tokens.Words]string{tokens.Counted: "counts of tokens", tokens.Ready: "a region for tokens", tokens.Sent: "tokens", tokens.Returned: "results for tokens"}

// takeFault returns the first wait on the device that was given up since the last time, or the first value that was refused
// there, or nil.
func (rt *Runtime) takeFault() *Error {
	f := &rt.watch.Fault
	if v := atomic.SwapUint64(&rt.watch.Absent, 0); v != 0 && atomic.CompareAndSwapUint32(&f.State, device.WaitNone, device.WaitClaimed) {
		storeRecord(f, &device.WaitRecord{State: device.WaitRefused, Kind: abi.NcclPeer, Peer: uint32(v), Want: v>>32 - 1})
	}
	state := atomic.LoadUint32(&f.State)
	for state == device.WaitClaimed { // the kernel is writing it
		time.Sleep(10 * time.Microsecond)
		state = atomic.LoadUint32(&f.State)
	}
	if state == device.WaitNone {
		return nil
	}
	r := loadRecord(f)
	atomic.StoreUint32(&f.State, device.WaitNone)
	rt.gaveUpOnce.Store(true)
	rt.resume()
	c, peers := rt.parties(&r)
	e := &Error{Op: c.op, Rank: rt.rank, Peer: -1, Caller: c.caller}
	if len(peers) > 0 {
		e.Peer = peers[0]
	}
	if r.State == device.WaitRefused {
		e.Kind, e.Msg = KindMisuse, fmt.Sprintf("value %d at index %d of rank %d was refused", r.Seen, r.Channel, e.Peer)
		switch {
		case r.Kind >= abi.NcclPeer:
			rt.explainNCCL(e, &r)
		case c.Refused != nil:
			c.Refused(&c, e, &r)
		}
	} else {
		rt.gaveUp(e, c, &r)
	}
	if c.replayed != nil {
		e.Msg += "; captured in a graph"
		e.Replayed = int(c.replayed.Load())
	}
	return e
}

// resume lets puts and waits of signals run again after one gave up, which is reported now. It uses a stream of its own, since others may hold
// waits that this process has yet to satisfy. If it fails, so will what follows.
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
			s.Set(g.work.seg.Ptr()+device.Ptr(gaveUpAt(g.channels, len(g.ranks))), 0, 4)
		}
	}
	s.Synchronize()
}

// gaveUp explains a wait that ended by deadline or abort.
func (rt *Runtime) gaveUp(e *Error, c Record, r *device.WaitRecord) {
	e.Kind = KindTimeout
	waited := time.Duration(r.Elapsed)
	if waited > time.Second {
		waited = waited.Round(10 * time.Millisecond)
	} else {
		waited = waited.Round(time.Millisecond)
	}
	what := awaited(r)
	if e.Peer >= 0 {
		switch r.Kind {
		case device.WaitSignal, device.WaitNetSignal:
			what = fmt.Sprintf("a signal of rank %d on channel %d, which never came", e.Peer, r.Channel)
			e.Hint = fmt.Sprintf("rank %d must put it%s", e.Peer, c.group.elsewhere(e.Peer, int(r.Channel)))
		case device.WaitConsumed:
			what = fmt.Sprintf("rank %d to consume the previous signal on channel %d", e.Peer, r.Channel)
			e.Hint = fmt.Sprintf("rank %d must wait for each signal it is sent", e.Peer)
		case device.WaitBarrier, device.WaitNetBarrier:
			what = fmt.Sprintf("rank %d to come to the barrier on channel %d", e.Peer, r.Channel)
			e.Hint = fmt.Sprintf("rank %d must make the same call", e.Peer)
		case device.WaitLSABarrier:
			what = fmt.Sprintf("rank %d to come to LSA barrier %d", e.Peer, r.Channel)
			e.Hint = fmt.Sprintf("rank %d must launch the same kernel", e.Peer)
		case device.WaitPacket:
			what = fmt.Sprintf("data of rank %d", e.Peer)
			e.Hint = fmt.Sprintf("rank %d must make the same call", e.Peer)
		case device.WaitNetChunk:
			what = fmt.Sprintf("chunk %d of rank %d, between hosts", r.Want, e.Peer)
			e.Hint = fmt.Sprintf("rank %d must make the same call", e.Peer)
		case device.WaitNetUsed:
			what = fmt.Sprintf("rank %d to make room for chunk %d, between hosts", e.Peer, r.Want)
			e.Hint = fmt.Sprintf("rank %d must make the same call", e.Peer)
		case device.WaitNetRows:
			what = fmt.Sprintf("the rows of rank %d, between hosts", e.Peer)
			e.Hint = fmt.Sprintf("rank %d must make the same call", e.Peer)
		case device.WaitNetTokens:
			what = fmt.Sprintf("%s of rank %d, between hosts", netTokens[r.Channel%tokens.Words], e.Peer)
			e.Hint = fmt.Sprintf("rank %d must make the same call", e.Peer)
		case device.WaitNetCounter:
			what = fmt.Sprintf("data to travel between it and rank %d", e.Peer)
		case device.WaitWord: // which a member that is gone might have set
		case device.WaitNetFlush:
			what = fmt.Sprintf("the network to take an operation with rank %d", e.Peer)
		case device.WaitUser:
			what = fmt.Sprintf("a word of rank %d to become %d; it is %d", e.Peer, r.Want, r.Seen)
		case device.WaitCopy:
			what = fmt.Sprintf("rank %d to come to the copies", e.Peer)
			e.Hint = fmt.Sprintf("rank %d must make the same call", e.Peer)
		case device.WaitCopied:
			what = fmt.Sprintf("rank %d to be done with its copies", e.Peer)
			e.Hint = fmt.Sprintf("rank %d may be gone", e.Peer)
		default:
			what = fmt.Sprintf("rank %d", e.Peer)
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
		if e.Msg += ": " + rt.whyAborted(); r.Kind == device.WaitWord {
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
		rt.explainLibrary(e, c)
	}
	if c.Manner >= operators.Communicating {
		rt.broken.Store(ptr(c.op + ": " + e.Msg))
	}
}

// loadRecord reads a record that kernels write.
func loadRecord(r *device.WaitRecord) device.WaitRecord {
	return device.WaitRecord{
		State:   atomic.LoadUint32(&r.State),
		Kind:    atomic.LoadUint32(&r.Kind),
		Ordinal: atomic.LoadUint32(&r.Ordinal),
		Rank:    atomic.LoadUint32(&r.Rank),
		Peer:    atomic.LoadUint32(&r.Peer),
		Channel: atomic.LoadUint32(&r.Channel),
		Want:    atomic.LoadUint64(&r.Want),
		Seen:    atomic.LoadUint64(&r.Seen),
		Elapsed: atomic.LoadUint64(&r.Elapsed),
		Began:   atomic.LoadUint64(&r.Began),
	}
}

// storeRecord writes a record that others read at any time.
func storeRecord(to, r *device.WaitRecord) {
	atomic.StoreUint32(&to.Kind, r.Kind)
	atomic.StoreUint32(&to.Ordinal, r.Ordinal)
	atomic.StoreUint32(&to.Rank, r.Rank)
	atomic.StoreUint32(&to.Peer, r.Peer)
	atomic.StoreUint32(&to.Channel, r.Channel)
	atomic.StoreUint64(&to.Want, r.Want)
	atomic.StoreUint64(&to.Seen, r.Seen)
	atomic.StoreUint64(&to.Elapsed, r.Elapsed)
	atomic.StoreUint64(&to.Began, r.Began)
	atomic.StoreUint32(&to.State, r.State)
}
