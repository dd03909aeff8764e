package symmem

import (
	"cmp"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/waits"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Traced is an operation of this rank as a trace saw it.
type Traced struct {
	Op     string // "wait_signal", "Rendezvous"
	Caller int    // where it was called, as Config.Caller said
	Stream int    // the number of the stream; -1 for a collective call that waited on the host
	Begin  time.Time
	Took   time.Duration
	Over   string // what of it went between hosts: "the null network to rank 3 on host 1"; empty if nothing did
	Bytes  int    // that went there
	Waits  []TracedWait
}

// TracedWait is a part of an operation in which it waited for others.
type TracedWait struct {
	Peers []int // world ranks
	Begin time.Time
	Took  time.Duration
}

const (
	traceKept = 2000                   // operations in a trace
	lookEvery = 200 * time.Microsecond // between looks at what is waited for
)

// trace watches what this rank does. Operations are timed by events in their streams; what they wait for is looked at from time to time.
type trace struct {
	rt     *Runtime
	origin device.Event
	began  time.Time // when the origin was reached
	over   chan struct{}
	looked sync.WaitGroup

	mu      sync.Mutex
	ops     []*tracedOp
	dropped int
	current map[*Stream]*tracedOp
	latest  *tracedOp
	calls   map[uint32]*tracedOp // by what kernels know them by
}

type tracedOp struct {
	Traced
	begin, end device.Event // nil until something was issued
	began      []uint64     // of each of Waits, as the kernel's clock said when it was last looked at
}

// StartTrace waits for this rank's work and begins to note when each operation on a stream begins and ends and for whom it waits, and when collective
// calls on the host do. That costs each operation some time of its own. Operations within a graph are not told apart.
func (rt *Runtime) StartTrace() {
	const op = "StartTrace"
	rt.hostCall(op)
	rt.synchronize(op)
	rt.StopTrace()
	t := &trace{rt: rt, over: make(chan struct{}), current: map[*Stream]*tracedOp{}, calls: map[uint32]*tracedOp{}}
	if err := t.setOrigin(); err != nil {
		panic(rt.failure(op, err))
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	for _, s := range rt.streams {
		s.mu.Lock()
		s.d = &tracedStream{Stream: s.d, of: s, t: t}
		s.mu.Unlock()
	}
	rt.trace.Store(t)
	atomic.OrUint32(&rt.watch.Abort, device.WatchTrace)
	t.looked.Go(t.look)
}

// setOrigin relates the device's clock to the host's. Each of several events is reached between two looks at the host's clock, which may come late
// on a busy machine; the bounds that all of them give together are narrow.
func (t *trace) setOrigin() error {
	const events = 16
	var earliest, latest time.Time // of the origin
	for i := range events {
		e, err := t.rt.dev.NewEvent()
		if err != nil {
			return err
		}
		if i == 0 {
			t.origin = e
		} else {
			defer e.Close()
		}
		before := time.Now()
		if err := cmp.Or(t.rt.first.record(e), e.Synchronize()); err != nil {
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

// StopTrace ends a trace and returns its operations by when they began, the first few thousand, and how many more there were. Without a trace there
// are none. Work that is under way is waited for.
func (rt *Runtime) StopTrace() (ops []Traced, more int) {
	t := rt.trace.Swap(nil)
	if t == nil {
		return nil, 0
	}
	atomic.AndUint32(&rt.watch.Abort, ^uint32(device.WatchTrace))
	rt.drain() // what it reports belongs to the cell that was traced
	close(t.over)
	t.looked.Wait()
	rt.mu.Lock()
	for _, s := range rt.streams {
		s.mu.Lock()
		if traced, ok := s.d.(*tracedStream); ok {
			s.d = traced.Stream
		}
		s.mu.Unlock()
	}
	rt.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, o := range t.ops {
		if o.timed(t) {
			ops = append(ops, o.Traced)
		}
	}
	t.origin.Close()
	slices.SortStableFunc(ops, func(a, b Traced) int { return a.Begin.Compare(b.Begin) })
	return ops, t.dropped
}

// timed reads the operation's events, and reports whether it has run.
func (o *tracedOp) timed(t *trace) bool {
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

// clip puts the waits, which were looked at by another clock, within the operation.
func (o *tracedOp) clip() {
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

// issue notes that a call is about to issue work on a stream.
func (t *trace) issue(op string, s *Stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.latest = &tracedOp{Traced: Traced{Op: op, Caller: t.rt.calls.caller(), Stream: s.id}}
	t.current[s] = t.latest
}

// know notes what kernels know the latest call by.
func (t *trace) know(id uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.latest != nil {
		t.calls[id] = t.latest
	}
}

// crosses notes what of the latest call goes between hosts.
func (t *trace) crosses(over string, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.latest != nil {
		t.latest.Over, t.latest.Bytes = over, bytes
	}
}

// meets notes a collective call on the host, until the function it returns is called.
func (t *trace) meets(op string, others []int) (done func()) {
	o := &tracedOp{Traced: Traced{Op: op, Caller: t.rt.calls.caller(), Stream: -1, Begin: time.Now()}}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		o.Took = time.Since(o.Begin)
		o.Waits = []TracedWait{{others, o.Begin, o.Took}}
		t.keep(o)
	}
}

// keep adds an operation if there is room for it. t.mu is held.
func (t *trace) keep(o *tracedOp) bool {
	if len(t.ops) == traceKept {
		t.dropped++
		return false
	}
	t.ops = append(t.ops, o)
	return true
}

// look notes what is waited for, until the trace is over.
func (t *trace) look() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-t.over:
			return
		case <-ticker.C:
			for r := range waits.Pending(t.rt.watch) {
				t.saw(&r, time.Now())
			}
		}
	}
}

// saw takes in a wait that is under way.
func (t *trace) saw(r *device.WaitRecord, now time.Time) {
	_, peers := t.rt.parties(r)
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.calls[r.Ordinal]
	if o == nil {
		return
	}
	// What the kernel says may be old if either of the two had to wait for a processor.
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
	o.Waits = append(o.Waits, TracedWait{peers, begin, now.Sub(begin)})
	o.began = append(o.began, r.Began)
}

// tracedStream is a stream whose work is between the events of a trace. The lock of the Stream is held when it is used.
type tracedStream struct {
	device.Stream
	of        *Stream
	t         *trace
	capturing bool
}

// around issues work between the events of the call that issues it.
func (s *tracedStream) around(issue func() error) error {
	o, first := s.t.opened(s)
	if o == nil {
		return issue()
	}
	if first {
		if err := s.Stream.Record(o.begin); err != nil {
			return err
		}
	}
	err := issue()
	return cmp.Or(err, s.Stream.Record(o.end))
}

// opened is the call that issues work on the stream now, nil if it is not traced, and whether that is its first.
func (t *trace) opened(s *tracedStream) (o *tracedOp, first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o = t.current[s.of]
	if o == nil || s.capturing || t.rt.trace.Load() != t {
		return nil, false
	}
	if o.begin != nil {
		return o, false
	}
	if !t.keep(o) {
		delete(t.current, s.of)
		return nil, false
	}
	begin, err := t.rt.dev.NewEvent()
	if err != nil {
		return nil, false
	}
	end, err := t.rt.dev.NewEvent()
	if err != nil {
		begin.Close()
		return nil, false
	}
	o.begin, o.end = begin, end
	return o, true
}

func (s *tracedStream) Launch(k device.Kernel, l device.Launch) error {
	return s.around(func() error { return s.Stream.Launch(k, l) })
}

func (s *tracedStream) Copy(dst, src device.Ptr, n int) error {
	return s.around(func() error { return s.Stream.Copy(dst, src, n) })
}

func (s *tracedStream) CopyAll(copies []device.Copy) error {
	return s.around(func() error { return s.Stream.CopyAll(copies) })
}

func (s *tracedStream) Values(ops []device.Value) error {
	return s.around(func() error { return s.Stream.Values(ops) })
}

func (s *tracedStream) MatMul(m device.MatMul) error {
	return s.around(func() error { return s.Stream.MatMul(m) })
}

func (s *tracedStream) Collective(c device.Communicator, d device.Collective) error {
	return s.around(func() error { return s.Stream.Collective(c, d) })
}

func (s *tracedStream) Write(dst device.Ptr, src []byte) error {
	return s.around(func() error { return s.Stream.Write(dst, src) })
}

func (s *tracedStream) Read(dst []byte, src device.Ptr) error {
	return s.around(func() error { return s.Stream.Read(dst, src) })
}

func (s *tracedStream) WriteFrom(dst device.Ptr, src io.ReaderAt, n int) error {
	return s.around(func() error { return s.Stream.WriteFrom(dst, src, n) })
}

func (s *tracedStream) ReadTo(dst io.WriterAt, src device.Ptr, n int) error {
	return s.around(func() error { return s.Stream.ReadTo(dst, src, n) })
}

func (s *tracedStream) Set(dst device.Ptr, value byte, n int) error {
	return s.around(func() error { return s.Stream.Set(dst, value, n) })
}

func (s *tracedStream) SetWords(dst device.Ptr, value uint32, n int) error {
	return s.around(func() error { return s.Stream.SetWords(dst, value, n) })
}

func (s *tracedStream) BeginCapture() error {
	s.capturing = true
	return s.Stream.BeginCapture()
}

func (s *tracedStream) EndCapture() (device.Graph, error) {
	s.capturing = false
	return s.Stream.EndCapture()
}

// launchOn launches the graph on a stream whose lock is held.
func (g *Graph) launchOn(s *Stream) error {
	if traced, ok := s.d.(*tracedStream); ok {
		return traced.around(func() error { return g.d.Launch(traced.Stream) })
	}
	return g.d.Launch(s.d)
}
