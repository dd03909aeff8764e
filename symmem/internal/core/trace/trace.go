package trace

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/waits"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Operation is an operation of this rank as a trace saw it.
type Operation struct {
	Op     string
	Caller int // where it was called
	Stream int // the number of the stream; -1 for a collective call that waited on the host
	Begin  time.Time
	Took   time.Duration
	Over   string // the network that it used between hosts; empty if none
	Bytes  int    // that went over it
	Waits  []Wait
}

// Wait is a part of an operation in which it waited for others.
type Wait struct {
	Peers []int // world ranks
	Begin time.Time
	Took  time.Duration
}

const (
	kept      = 2000                   // operations in a trace
	lookEvery = 200 * time.Microsecond // between looks at the page of waits
)

// Trace records what a rank does. Its methods may be called from several goroutines.
type Trace struct {
	dev    device.Device
	watch  *device.Watch
	caller func() int                     // where the program is
	peers  func(*device.WaitRecord) []int // that a wait is for, as world ranks
	origin device.Event
	began  time.Time // when the origin was reached
	over   chan struct{}
	looked sync.WaitGroup

	mu      sync.Mutex
	ops     []*operation
	dropped int
	current map[int]*operation // by stream
	latest  *operation
	calls   map[uint32]*operation // by the ids of calls
	stopped bool
}

type operation struct {
	Operation
	begin, end device.Event // nil until something was issued
	began      []uint64     // of each of Waits, as the kernel's clock said when it was last looked at
}

// Start starts a trace of a device whose streams have nothing to do. record puts an event in one of
// them. caller says where the program is, and peers for which world ranks a wait is.
func Start(dev device.Device, watch *device.Watch, record func(device.Event) error, caller func() int, peers func(*device.WaitRecord) []int) (*Trace, error) {
	t := &Trace{dev: dev, watch: watch, caller: caller, peers: peers, over: make(chan struct{}), current: map[int]*operation{}, calls: map[uint32]*operation{}}
	if err := t.setOrigin(record); err != nil {
		return nil, err
	}
	atomic.OrUint32(&watch.Abort, device.WatchTrace)
	t.looked.Go(t.look)
	return t, nil
}

// setOrigin relates the device's clock to the host's. Each of several events is reached between two
// looks at the host's clock, which may come late on a busy machine; the bounds that all of them
// give together are narrow.
func (t *Trace) setOrigin(record func(device.Event) error) error {
	const events = 16
	var earliest, latest time.Time // of the origin
	for i := range events {
		e, err := t.dev.NewEvent()
		if err != nil {
			return err
		}
		if i == 0 {
			t.origin = e
		} else {
			defer e.Close()
		}
		before := time.Now()
		if err := cmp.Or(record(e), e.Synchronize()); err != nil {
			return err
		}
		after := time.Now()
		us, err := e.Since(t.origin)
		if err != nil {
			return err
		}
		since := microseconds(us)
		if at := before.Add(-since); i == 0 || at.After(earliest) {
			earliest = at
		}
		if at := after.Add(-since); i == 0 || at.Before(latest) {
			latest = at
		}
	}
	t.began = earliest.Add(latest.Sub(earliest) / 2)
	return nil
}

// Stop ends the recording of calls that are issued from now on. Operations are complete when the
// streams are at rest.
func (t *Trace) Stop() {
	atomic.AndUint32(&t.watch.Abort, ^uint32(device.WatchTrace))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
}

// Operations ends a trace that was stopped, whose streams are at rest. It returns the operations by
// when they began, and how many more there were.
func (t *Trace) Operations() (list []Operation, more int) {
	close(t.over)
	t.looked.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, o := range t.ops {
		if o.timed(t) {
			list = append(list, o.Operation)
		}
	}
	t.origin.Close()
	slices.SortStableFunc(list, func(a, b Operation) int { return a.Begin.Compare(b.Begin) })
	return list, t.dropped
}

// timed reads the operation's events, and reports whether it has run.
func (o *operation) timed(t *Trace) bool {
	switch {
	case o.Stream < 0:
		return true
	case o.end == nil:
		return false
	}
	begin, err := o.begin.Since(t.origin)
	if err == nil {
		var took float64
		took, err = o.end.Since(o.begin)
		o.Begin, o.Took = t.began.Add(microseconds(begin)), microseconds(took)
		o.clip()
	}
	o.begin.Close()
	o.end.Close()
	return err == nil
}

// clip moves the waits, which another clock has timed, into the time of the operation.
func (o *operation) clip() {
	within := func(at time.Time) time.Time {
		if at.Before(o.Begin) {
			return o.Begin
		}
		if end := o.Begin.Add(o.Took); at.After(end) {
			return end
		}
		return at
	}
	for i := range o.Waits {
		w := &o.Waits[i]
		begin, end := within(w.Begin), within(w.Begin.Add(w.Took))
		w.Begin, w.Took = begin, end.Sub(begin)
	}
}

func microseconds(us float64) time.Duration { return time.Duration(us * float64(time.Microsecond)) }

// Issue notes that a call is about to issue work on a stream.
func (t *Trace) Issue(op string, stream int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.latest = &operation{Operation: Operation{Op: op, Caller: t.caller(), Stream: stream}}
	t.current[stream] = t.latest
}

// Know notes the id of the latest call.
func (t *Trace) Know(id uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.latest != nil {
		t.calls[id] = t.latest
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

// Meets notes a collective call on the host, until the function it returns is called.
func (t *Trace) Meets(op string, others []int) (done func()) {
	o := &operation{Operation: Operation{Op: op, Caller: t.caller(), Stream: -1, Begin: time.Now()}}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		o.Took = time.Since(o.Begin)
		o.Waits = []Wait{{others, o.Begin, o.Took}}
		t.keep(o)
	}
}

// keep adds an operation if there is room for it. t.mu is held.
func (t *Trace) keep(o *operation) bool {
	if len(t.ops) == kept {
		t.dropped++
		return false
	}
	t.ops = append(t.ops, o)
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
				t.saw(&r, time.Now())
			}
		}
	}
}

// saw notes a wait that is under way.
func (t *Trace) saw(r *device.WaitRecord, now time.Time) {
	peers := t.peers(r)
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.calls[r.Ordinal]
	if o == nil {
		return
	}
	// The kernel's record may be old if the kernel or this goroutine had to wait for a processor.
	begin := now.Add(-time.Duration(r.Elapsed))
	for i := range o.Waits {
		w := &o.Waits[i]
		end := w.Begin.Add(w.Took)
		if !slices.Equal(w.Peers, peers) || o.began[i] != r.Began && begin.After(end.Add(lookEvery)) {
			continue
		}
		if begin.Before(w.Begin) {
			w.Begin = begin
		}
		if now.After(end) {
			end = now
		}
		w.Took = end.Sub(w.Begin)
		o.began[i] = r.Began
		return
	}
	o.Waits = append(o.Waits, Wait{peers, begin, now.Sub(begin)})
	o.began = append(o.began, r.Began)
}
