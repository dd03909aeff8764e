package trace

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/internal/timeline"
	"github.com/symmrepl/symmrepl/symmem/internal/core/waits"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

const (
	kept      = 20000                  // operations, and calls on the host, in a trace
	lookEvery = 200 * time.Microsecond // between looks at the page of waits
)

// Trace records the work of a rank. Its methods may be called from several goroutines.
type Trace struct {
	dev       device.Device
	watch     *device.Watch
	caller    func() int       // where the program is
	recording device.Recording // nil if the trace has events
	events    origin           // of a trace with events
	over      chan struct{}
	looked    sync.WaitGroup

	mu      sync.Mutex
	ops     []*operation
	spare   []operation  // for the next calls
	host    [][]hostCall // in pieces, so that recording a call copies no earlier one
	calling hostCall     // the call that is under way on the host; its begin is 0 if none is
	cells   []timeline.Slice
	cell    *timeline.Slice
	dropped int
	current map[int]*operation // by stream
	latest  *operation
	calls   map[uint32]known // by the ids of calls
	stopped bool
	paused  bool // see Pause
}

// operation is the work of a call on a stream.
type operation struct {
	timeline.Slice
	begin, end device.Event     // nil until something was issued, and if the device records
	copied     *device.Activity // a copy from or to the host, as the host saw it, with the time for which it waited for the stream
	stores     []int            // for each word that it awaits: the world rank that stores it, or -1
	waits      []wait
	parts      []timeline.Slice // kernels and copies
	group      []int            // its members by world rank
	ordinal    uint64           // of a collective call in the group
}

// hostCall is a call on the host, or a wait in one: what a slice of it needs.
type hostCall struct {
	name, meets  string
	others       []int // of a wait: for whom
	begin, took  int64
	call, caller int
}

// hostPiece is the number of calls in a piece of Trace.host.
const hostPiece = 512

// slice is the call as a slice.
func (c *hostCall) slice() timeline.Slice {
	s := timeline.Slice{Kind: timeline.Call, Track: timeline.Host, Name: c.name, Begin: c.begin, Took: c.took, Call: c.call,
		Caller: c.caller, Meets: c.meets}
	if len(c.others) > 0 {
		s.Kind, s.Peers, s.Ended, s.For = timeline.Wait, c.others, c.others, "the same call"
	}
	return s
}

// known is a call whose kernels know it by an id.
type known struct {
	o     *operation
	ranks []int // the members of the call's group
}

// wait is a time in which an operation waited for some ranks.
type wait struct {
	peers      []int // world ranks; none if they are not known
	mine       bool  // operations of this rank ended it
	what       string
	begin, end int64
	began      uint64 // as the kernel's clock said
}

// Start starts a trace of a device whose streams have nothing to do. record puts an event in one of
// these streams, and caller returns the place in the program.
func Start(dev device.Device, watch *device.Watch, record func(device.Event) error, caller func() int) (*Trace, error) {
	t := &Trace{dev: dev, watch: watch, caller: caller, over: make(chan struct{}), current: map[int]*operation{},
		calls: make(map[uint32]known, 1024)}
	var err error
	if r, can := dev.(device.Recorder); can {
		t.recording, err = r.StartRecording()
	}
	if t.recording == nil {
		t.events.why = err
		if err := t.events.set(dev, record); err != nil {
			return nil, err
		}
		t.looked.Go(t.look)
	} else if !t.recording.Waits() {
		t.looked.Go(t.look)
	}
	atomic.OrUint32(&watch.Abort, device.WatchTrace)
	return t, nil
}

// Stop ends the recording of calls that are issued from now on. Operations are complete when the
// streams are at rest.
func (t *Trace) Stop() {
	atomic.AndUint32(&t.watch.Abort, ^uint32(device.WatchTrace))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
}

// Pause ends the slice of BeginCell, and leaves out calls that are issued from now on, until Resume.
func (t *Trace) Pause() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.paused = true
	if t.cell != nil {
		t.endCell()
	}
}

// Resume ends Pause.
func (t *Trace) Resume() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.paused = false
}

// Result ends a trace that was stopped, whose streams are at rest. It sets the slices, their source,
// and how exact times on streams are against those on the host.
func (t *Trace) Result(to *timeline.Rank) error {
	close(t.over)
	t.looked.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	var err error
	if t.recording != nil {
		err = t.recorded(to)
	} else {
		t.timed(to)
	}
	for _, o := range t.ops {
		if o.Took == 0 && o.Begin == 0 {
			continue // nothing of it ran
		}
		if o.ordinal > 0 {
			o.Meets = fmt.Sprintf("%s #%d", o.Group, o.ordinal)
		}
		o.clip()
		to.Slices = append(append(to.Slices, o.Slice), o.parts...)
		to.Slices = append(to.Slices, o.waited()...)
	}
	if t.cell != nil {
		t.endCell()
	}
	to.Slices = append(to.Slices, t.cells...)
	for _, piece := range t.host {
		for i := range piece {
			to.Slices = append(to.Slices, piece[i].slice())
		}
	}
	to.More += t.dropped
	slices.SortStableFunc(to.Slices, func(a, b timeline.Slice) int { return cmp.Compare(a.Begin, b.Begin) })
	return err
}

// Issue notes that a call is about to issue work on a stream.
func (t *Trace) Issue(op string, stream int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	caller := t.caller()
	if len(t.spare) == 0 {
		t.spare = make([]operation, 64)
	}
	t.latest, t.spare = &t.spare[0], t.spare[1:]
	*t.latest = operation{Slice: timeline.Slice{Kind: timeline.Operation, Track: timeline.Track(stream), Name: op, Caller: caller}}
	t.current[stream] = t.latest
	if t.calling.begin == 0 && !t.leavesOut() {
		t.calling = hostCall{name: op, begin: timeline.Now(), caller: caller}
	}
}

// Left notes that the call that issues work has returned.
func (t *Trace) Left() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := &t.calling; c.begin != 0 {
		c.took = timeline.Now() - c.begin
		if t.latest != nil {
			c.call = t.latest.Call
		}
		t.keepCall(*c)
		c.begin = 0
	}
}

// Ends identify the group and the number of a call that meets calls of other ranks.
type Ends struct {
	Group   string
	Ordinal uint64 // of a collective call in the group, from 1; 0 of any other
}

// Know notes the id of the latest call, and the members of its group.
func (t *Trace) Know(id uint32, ranks []int, e Ends) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o := t.latest; o != nil {
		t.calls[id] = known{o, ranks}
		o.group, o.Group, o.ordinal = ranks, e.Group, e.Ordinal
	}
}

// CallerOf returns the place in the program at which the call of an id was made; 0 if it is not
// known.
func (t *Trace) CallerOf(id uint32) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.calls[id]; c.o != nil {
		return c.o.Caller
	}
	return 0
}

// Signals notes the signals that the latest call gives and awaits.
func (t *Trace) Signals(sends, awaits []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o := t.latest; o != nil {
		o.Sends, o.Awaits = append(o.Sends, sends...), append(o.Awaits, awaits...)
	}
}

// Replays notes that the latest call replays a graph with calls of these ids and members.
func (t *Trace) Replays(ids []uint32, ranks [][]int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o := t.latest; o != nil {
		o.Replay = true
		for i, id := range ids {
			t.calls[id] = known{o, ranks[i]}
		}
	}
}

// Crosses notes that the latest call sends bytes between hosts.
func (t *Trace) Crosses(over string, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.latest != nil {
		t.latest.Over, t.latest.Bytes = over, bytes
	}
}

// Calls notes a call on the host, until the function it returns is called. If it waits for others,
// meets names it equally on all of them.
func (t *Trace) Calls(op string, others []int, meets string) (done func()) {
	c := hostCall{name: op, begin: timeline.Now(), caller: t.caller(), meets: meets}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		c.took = timeline.Now() - c.begin
		if t.keepCall(c); len(others) > 0 {
			c.others = others
			t.keepCall(c)
		}
	}
}

// BeginCell notes that a cell begins, or something like it, and EndCell that it ends.
func (t *Trace) BeginCell(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cell = &timeline.Slice{Kind: timeline.Cell, Track: timeline.Cells, Name: name, Begin: timeline.Now(), Caller: t.caller()}
}

// EndCell ends the slice of BeginCell.
func (t *Trace) EndCell() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cell != nil {
		t.endCell()
	}
}

func (t *Trace) endCell() {
	t.cell.Took = timeline.Now() - t.cell.Begin
	t.cells, t.cell = append(t.cells, *t.cell), nil
}

// leavesOut reports whether calls are not recorded now. t.mu is held.
func (t *Trace) leavesOut() bool { return t.stopped || t.paused }

// keepCall adds a call on the host if there is room for it. t.mu is held.
func (t *Trace) keepCall(c hostCall) {
	if t.leavesOut() {
		return
	}
	last := len(t.host) - 1
	if last >= 0 && last*hostPiece+len(t.host[last]) >= kept {
		t.dropped++
		return
	}
	if last < 0 || len(t.host[last]) == hostPiece {
		t.host = append(t.host, make([]hostCall, 0, hostPiece))
		last++
	}
	t.host[last] = append(t.host[last], c)
}

// keep adds an operation if there is room for it, and numbers it. t.mu is held.
func (t *Trace) keep(o *operation) bool {
	if len(t.ops) == kept {
		t.dropped++
		return false
	}
	t.ops = append(t.ops, o)
	o.Call = len(t.ops)
	return true
}

// look notes the waits that are under way, until the trace is over.
func (t *Trace) look() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-t.over:
			return
		case <-ticker.C:
			for r := range waits.Pending(t.watch) {
				t.saw(&r, timeline.Now())
			}
		}
	}
}

// saw notes a wait that is under way.
func (t *Trace) saw(r *device.WaitRecord, now int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.calls[r.Ordinal]
	if c.o == nil {
		return
	}
	w := c.wait(r)
	// The kernel's record may be old if the kernel or this goroutine had to wait for a processor.
	w.begin, w.end = now-int64(r.Elapsed), now
	for i := range c.o.waits {
		before := &c.o.waits[i]
		if !slices.Equal(before.peers, w.peers) || before.began != w.began && w.begin > before.end+int64(lookEvery) {
			continue
		}
		before.begin, before.end, before.began = min(before.begin, w.begin), max(before.end, w.end), w.began
		return
	}
	c.o.waits = append(c.o.waits, w)
}

// wait returns the wait of the call that a record describes, without the times at which it began
// and ended.
func (c known) wait(r *device.WaitRecord) wait {
	kind := waits.Of(r)
	w := wait{began: r.Began, mine: kind.Mine}
	if w.what = kind.What(r); kind.Peer(r) >= 0 && kind.Peer(r) < len(c.ranks) {
		w.peers = []int{c.ranks[kind.Peer(r)]}
	}
	return w
}
