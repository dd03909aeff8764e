package symmem

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Stream is a queue of work on the device, in order. The world has one from the start.
type Stream struct {
	rt     *Runtime
	d      device.Stream
	id     int
	closed atomic.Bool // refused from now on

	gone    bool   // closed on the device; guarded by mu
	space   *block // of matrix products; guarded by rt.mu
	retired bool   // closed, and its work is over: its blocks go to the first stream; guarded by cache.mu

	mu sync.Mutex // orders the calls on d; taken after rt.mu, or alone
}

// NewStream returns another queue; work on it runs beside that of other streams.
func (rt *Runtime) NewStream() *Stream {
	rt.refuseCapture("NewStream")
	s, err := rt.newStream()
	if err != nil {
		panic(rt.failure("NewStream", err))
	}
	return s
}

func (rt *Runtime) newStream() (*Stream, error) {
	d, err := rt.dev.NewStream()
	if err != nil {
		return nil, err
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	s := &Stream{rt: rt, d: d}
	if n := len(rt.streams); n > 0 {
		s.id = rt.streams[n-1].id + 1
	}
	rt.streams = append(rt.streams, s)
	if t := rt.trace.Load(); t != nil {
		s.d = &tracedStream{Stream: d, of: s, t: t}
	}
	return s, nil
}

// Free waits for the stream's work and gives it back. The world's first stream cannot be freed, nor the one
// that is current.
func (s *Stream) Free() {
	const op = "Stream.Free"
	rt := s.rt
	rt.refuseCapture(op)
	s.retire(op)
	err := s.synchronize()
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.streams = slices.DeleteFunc(rt.streams, func(o *Stream) bool { return o == s })
	for _, g := range rt.groups {
		if g.last == s {
			g.last = nil // its work is done: nothing to wait for
		}
	}
	if s.space != nil {
		s.space.give()
	}
	rt.local.abandon(s)
	failed := s.close()
	rt.raise(op, err)
	if failed != nil {
		panic(rt.failure(op, failed))
	}
}

func (s *Stream) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	return s.d.Close()
}

// retire refuses all later use.
func (s *Stream) retire(op string) {
	rt := s.rt
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if s == rt.first || s == rt.current {
		panic(rt.misuse(op, "stream", "", "the stream is in use"))
	}
	if !s.closed.CompareAndSwap(false, true) {
		panic(rt.misuse(op, "stream", "", "the stream was freed already"))
	}
}

// Synchronize waits for the stream's work and reports the first fault of it.
func (s *Stream) Synchronize() {
	s.rt.refuseCapture("Synchronize")
	s.rt.raise("Synchronize", s.synchronize())
}

func (s *Stream) synchronize() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.d.Synchronize()
}

func (s *Stream) launch(k device.Kernel, l device.Launch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.d.Launch(k, l)
}

func (s *Stream) copy(dst, src device.Ptr, n int) error {
	if n == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.d.Copy(dst, src, n)
}

func (s *Stream) set0(dst device.Ptr, n int) error {
	if n == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.d.Set(dst, 0, n)
}

// issue calls f with the device's stream, which nobody else uses meanwhile.
func (s *Stream) issue(f func(device.Stream) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f(s.d)
}

func (s *Stream) write(dst device.Ptr, src []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.d.Write(dst, src)
}

func (s *Stream) record(e device.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.d.Record(e)
}

func (s *Stream) wait(e device.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.d.Wait(e)
}

// scratch is n bytes of the stream's own, for what runs on it alone; 0 while a graph is captured, which runs on any
// stream and would share them with what runs there. rt.mu is held.
func (s *Stream) scratch(op string, n int) device.Ptr {
	if s.rt.capture != nil {
		return 0
	}
	if s.space == nil {
		s.space = s.rt.take(op, s, n)
	}
	return s.space.ptr
}

// idle reports whether the streams of a mask of ids have nothing to do. rt.mu is held.
func (rt *Runtime) idle(mask uint64) bool {
	for _, s := range rt.streams {
		if mask>>(s.id%64)&1 == 0 {
			continue
		}
		s.mu.Lock()
		ok, err := s.d.Idle()
		s.mu.Unlock()
		if !ok || err != nil {
			return false
		}
	}
	return true
}

// OnStream calls f with s as the world's current stream: everything issued meanwhile goes there, also what
// other goroutines issue. To issue single operations on a stream give it to them as an option.
func (rt *Runtime) OnStream(s *Stream, f func()) {
	const op = "OnStream"
	rt.refuseCapture(op)
	if s == nil {
		panic(rt.misuse(op, "stream", "", "the stream is nil"))
	}
	before := rt.become(op, s)
	defer func() {
		rt.mu.Lock()
		defer rt.mu.Unlock()
		rt.current = before
	}()
	f()
}

// become makes s current and returns what was.
func (rt *Runtime) become(op string, s *Stream) (before *Stream) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	c := rt.ownCall(op)
	c.opts.stream = s
	c.Begin()
	before, rt.current = rt.current, c.stream
	return before
}

// Synchronize waits for all work of this rank, on all streams, and reports the first fault of it.
func (rt *Runtime) Synchronize() {
	rt.refuseCapture("Synchronize")
	rt.synchronize("Synchronize")
}

// synchronize panics with the first fault.
func (rt *Runtime) synchronize(op string) { rt.raise(op, rt.drain()) }

// drain waits for all streams and returns the first error.
func (rt *Runtime) drain() error {
	rt.mu.Lock()
	streams := slices.Clone(rt.streams)
	first := rt.unreported
	rt.unreported = nil
	rt.mu.Unlock()
	for _, s := range streams {
		if err := s.synchronize(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// raise panics with an error of a synchronisation, or with a wait on the device that was given up.
func (rt *Runtime) raise(op string, err error) {
	if err != nil {
		panic(rt.failure(op, err))
	}
	if e := rt.takeFault(); e != nil {
		panic(e)
	}
}

// Event marks a place in a stream, to wait for and to measure from.
type Event struct {
	rt *Runtime
	d  device.Event
}

// NewEvent returns an event that was not recorded yet.
func (rt *Runtime) NewEvent() *Event {
	d, err := rt.dev.NewEvent()
	if err != nil {
		panic(rt.failure("NewEvent", err))
	}
	return &Event{rt, d}
}

// Record marks the end of what was issued so far on the current stream, or on the one given.
func (e *Event) Record(opts ...Option) { e.on("Event.Record", opts, (*Stream).record) }

// Wait makes what is issued later on the current stream, or on the one given, wait for the event.
func (e *Event) Wait(opts ...Option) { e.on("Event.Wait", opts, (*Stream).wait) }

func (e *Event) on(op string, opts []Option, do func(*Stream, device.Event) error) {
	c := e.rt.newCall(op, Alone, e.rt.all, WithStream, opts)
	defer c.Enter().Leave()
	c.Begin()
	c.issued(do(c.stream, e.d))
}

// Synchronize waits on the host until the event was reached.
func (e *Event) Synchronize() {
	e.rt.refuseCapture("Event.Synchronize")
	e.rt.raise("Event.Synchronize", e.d.Synchronize())
}

// Since is the device time from an earlier event to this one; it panics unless both have been reached. It is exact to
// about half a microsecond.
func (e *Event) Since(earlier *Event) time.Duration {
	us, err := e.d.Since(earlier.d)
	if err != nil {
		panic(e.rt.failure("Event.Since", err))
	}
	return time.Duration(us * float64(time.Microsecond))
}

// Free gives the event back.
func (e *Event) Free() {
	if err := e.d.Close(); err != nil {
		panic(e.rt.failure("Event.Free", err))
	}
}

// Elapsed calls f and returns the device time that the work it issued on the current stream took. It waits
// for that work.
func (rt *Runtime) Elapsed(f func()) time.Duration {
	rt.refuseCapture("Elapsed")
	start, end := rt.NewEvent(), rt.NewEvent()
	defer start.Free()
	defer end.Free()
	start.Record()
	f()
	end.Record()
	end.Synchronize()
	return end.Since(start)
}
