package symmem

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// callRecord is what is remembered of one stream-ordered call, to explain the waits of its kernel. Nothing is
// formatted until somebody asks.
type callRecord struct {
	id      uint32 // what the kernel knows it by
	op      string
	group   *Group
	ordinal uint64 // of a collective call in its group, from 1

	// What a collective was called with: n elements of dtype, which is 0 if it takes none; reduction is empty
	// if it does not reduce.
	dtype     DType
	n         int
	reduction string
	detail    string // what else distinguishes it
	parts     digest // of the parts of symmetric tensors that all members must give alike

	timeout time.Duration // of copies, whose waits the host ends
	caller  int           // where it was made, as Config.Caller said

	// replayed is where the graph was replayed last that captured the call; nil if none did.
	replayed *atomic.Int64

	// A kernel of a call that is communicating leaves signals or packets behind when it gives up, which others may
	// take for the next call's.
	manner manner
}

// text is the call as the user would say it: "one_shot_all_reduce bf16[16] sum".
func (c callRecord) text() string {
	if c.dtype == 0 {
		return c.op
	}
	return strings.Join(strings.Fields(fmt.Sprintf("%s %v[%d] %s %s", c.op, c.dtype, c.n, c.reduction, c.detail)), " ")
}

// callsKept is more than a device's queue holds, so that whatever still waits is remembered.
const callsKept = 4096

// callLog remembers the latest calls, and the host-side waits of this moment.
type callLog struct {
	caller func() int // Config.Caller; never nil
	mu     sync.Mutex
	next   uint32
	recent [callsKept]callRecord
	host   []*hostWait
	places map[string]int // of the latest launch of each kernel of the user's, by its name
}

// hostWait is a collective call that the host is in.
type hostWait struct {
	op      string
	group   *Group
	ordinal uint64
	caller  int
	since   time.Time
}

// note remembers a call and returns its id, which is never 0. rt.mu is held.
func (rt *Runtime) note(c callRecord) uint32 {
	l := &rt.calls
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next++; l.next == 0 {
		l.next++
	}
	c.id, c.caller = l.next, l.caller()
	if rt.capture != nil {
		c.replayed = rt.capture.replayed
		rt.capture.calls = append(rt.capture.calls, c)
	}
	l.recent[c.id%uint32(len(l.recent))] = c
	if t := rt.trace.Load(); t != nil {
		t.know(c.id)
	}
	return c.id
}

// launched remembers where a kernel of the user's is launched.
func (l *callLog) launched(kernel string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.places[kernel] = l.caller()
}

// launchOf is where a kernel was launched last.
func (l *callLog) launchOf(kernel string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.places[kernel]
}

// find returns the call of an id, if it is still remembered.
func (rt *Runtime) find(id uint32) (callRecord, bool) {
	l := &rt.calls
	l.mu.Lock()
	c := l.recent[id%uint32(len(l.recent))]
	l.mu.Unlock()
	if c.id == id && id != 0 {
		return c, true
	}
	for _, g := range *rt.graphs.Load() {
		if i := slices.IndexFunc(g.calls, func(c callRecord) bool { return c.id == id }); i >= 0 {
			return g.calls[i], true
		}
	}
	return callRecord{}, false
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
	return func() {
		traced()
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
	Caller   int // where the call was made, as Config.Caller said
	Replayed int // where the graph was replayed last that captured the call, likewise; 0 if none did
}

// Waits lists what this rank waits for at this moment: on the device for some time already, or in a
// collective call on the host. It may be called at any time.
func (rt *Runtime) Waits() []Wait {
	var list []Wait
	for i := range rt.watch.Waits {
		r := loadRecord(&rt.watch.Waits[i])
		if r.State != device.WaitPending {
			continue
		}
		c, peers := rt.parties(&r)
		wait := Wait{Op: c.text(), Ordinal: c.ordinal, Peers: peers, For: awaited(&r), Since: time.Duration(r.Elapsed), Caller: c.caller}
		if c.replayed != nil {
			wait.Replayed = int(c.replayed.Load())
		}
		if c.group != nil {
			wait.Group = c.group.String()
		}
		list = append(list, wait)
	}
	rt.calls.mu.Lock()
	defer rt.calls.mu.Unlock()
	for _, h := range rt.calls.host {
		list = append(list, Wait{
			Op: h.op, Ordinal: h.ordinal, Group: h.group.String(), Peers: h.group.others(), For: "the same call", Since: time.Since(h.since), Caller: h.caller,
		})
	}
	return list
}

// parties says which call a record belongs to and the world ranks it waits for.
func (rt *Runtime) parties(r *device.WaitRecord) (callRecord, []int) {
	c, ok := rt.find(r.Ordinal)
	if !ok {
		c = callRecord{op: "a kernel", manner: communicating}
	}
	if r.Kind == device.WaitWord {
		return c, nil // whoever sets it
	}
	if c.group != nil && int(r.Peer) < len(c.group.ranks) {
		return c, []int{c.group.ranks[r.Peer]}
	}
	return c, nil
}

// awaited says what a wait is for, after "for".
func awaited(r *device.WaitRecord) string {
	switch r.Kind {
	case device.WaitSignal:
		return fmt.Sprintf("a signal on channel %d", r.Channel)
	case device.WaitConsumed:
		return fmt.Sprintf("the previous signal on channel %d to be consumed", r.Channel)
	case device.WaitBarrier:
		return fmt.Sprintf("the barrier on channel %d", r.Channel)
	case device.WaitPacket:
		return fmt.Sprintf("packet %d of block %d", r.Want, r.Channel)
	case device.WaitCopy:
		return "it to come to the copies"
	case device.WaitCopied:
		return "it to be done with its copies"
	case device.WaitWord:
		return fmt.Sprintf("signal word %d to become %d; it is %d", r.Channel, r.Want, r.Seen)
	case device.WaitUser:
		return fmt.Sprintf("a word of its kernel to become %d; it is %d", r.Want, r.Seen)
	}
	return "something in a kernel of yours"
}

// takeFault returns the first wait on the device that was given up since the last time, or the first value that was refused
// there, or nil.
func (rt *Runtime) takeFault() *Error {
	f := &rt.watch.Fault
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
	c, peers := rt.parties(&r)
	e := &Error{Op: c.op, Rank: rt.rank, Peer: -1, Caller: c.caller}
	if len(peers) > 0 {
		e.Peer = peers[0]
	}
	if r.State == device.WaitRefused {
		rt.refusedValue(e, c, &r)
	} else {
		rt.gaveUp(e, c, &r)
	}
	if c.replayed != nil {
		e.Msg += "; captured in a graph"
		e.Replayed = int(c.replayed.Load())
	}
	return e
}

// gaveUp explains a wait that ended by deadline or abort.
func (rt *Runtime) gaveUp(e *Error, c callRecord, r *device.WaitRecord) {
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
		case device.WaitSignal:
			what = fmt.Sprintf("a signal of rank %d on channel %d, which never came", e.Peer, r.Channel)
			e.Hint = fmt.Sprintf("rank %d must put it", e.Peer)
		case device.WaitConsumed:
			what = fmt.Sprintf("rank %d to consume the previous signal on channel %d", e.Peer, r.Channel)
			e.Hint = fmt.Sprintf("rank %d must wait for each signal it is sent", e.Peer)
		case device.WaitBarrier:
			what = fmt.Sprintf("rank %d to come to the barrier on channel %d", e.Peer, r.Channel)
			e.Hint = fmt.Sprintf("rank %d must make the same call", e.Peer)
		case device.WaitPacket:
			what = fmt.Sprintf("data of rank %d", e.Peer)
			e.Hint = fmt.Sprintf("rank %d must make the same call", e.Peer)
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
	if r.State == device.WaitAborted {
		e.Kind, e.Hint = KindInterrupted, ""
		e.Msg += ", and gave up: " + rt.whyAborted()
	}
	if c.manner >= communicating {
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
