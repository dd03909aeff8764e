package symmem

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Stream is a queue of work on the device, in order. The world has one from the start.
type Stream struct {
	rt     *Runtime
	d      device.Stream
	id     int
	stands func() (device.Stand, bool) // of a device.Stander, else nil
	closed atomic.Bool                 // refused from now on

	gone    bool        // closed on the device; guarded by mu
	space   *block      // of matrix products; guarded by rt.mu
	work    int64       // the number of the work that Async issues or has issued on it, or 0; guarded by rt.mu
	retired atomic.Bool // closed, and its work is over: its blocks go to the first stream

	mu sync.Mutex // orders the calls on d; taken after rt.mu, or alone
}

// bit is the stream's bit among the streams that used a block or an allocation.
func (s *Stream) bit() uint64 { return 1 << (s.id % 64) }

// NewStream returns another queue; its work runs beside the work of other streams.
func (rt *Runtime) NewStream() *Stream {
	rt.hostCall("NewStream")
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
	return rt.adopt(d), nil
}

// adopt makes a queue of the device a stream of the world. rt.mu is held.
func (rt *Runtime) adopt(d device.Stream) *Stream {
	s := &Stream{rt: rt, d: d}
	if k, tells := d.(device.Stander); tells {
		s.stands = k.Stands
	}
	if n := len(rt.streams); n > 0 {
		s.id = rt.streams[n-1].id + 1
	}
	rt.streams = append(rt.streams, s)
	rt.keepStreams()
	if t := rt.trace.Load(); t != nil {
		s.d = t.Stream(d, s.id)
	}
	return s
}

// resting is a stream as parts in packages of their own see it.
type resting struct{ *Stream }

func (s resting) AtRest() bool { return s.rests(false) }

// Issue implements seam.Stream.
func (s resting) Issue(f func(device.Stream) error) error { return s.issue(f) }

// Free waits for the stream's work and gives it back. The world's first stream cannot be freed, nor
// the current one.
func (s *Stream) Free() {
	const op = "Stream.Free"
	s.exists(op)
	rt := s.rt
	rt.hostCall(op)
	s.retire(op)
	err := s.synchronize()
	failed := rt.drop(s)
	rt.raise(op, err)
	if failed != nil {
		panic(rt.failure(op, failed))
	}
}

// drop closes a stream that has nothing left to do, and forgets it.
func (rt *Runtime) drop(s *Stream) error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.streams = slices.DeleteFunc(rt.streams, func(o *Stream) bool { return o == s })
	rt.keepStreams()
	for _, g := range rt.groups {
		if g.last == s {
			g.last = nil // its work is done: nothing to wait for
		}
	}
	if s.space != nil {
		rt.giveBlock(s.space, 0)
	}
	s.retired.Store(true)
	rt.local.Abandon(s)
	rt.pinned.Abandon(s)
	return s.close()
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
		panic(rt.misuse(op, "stream", hintFor("stream"), "the stream was freed already"))
	}
}

// exists refuses a nil stream.
func (s *Stream) exists(op string) {
	if s == nil || s.rt == nil {
		panic(nilArgument(op, "stream"))
	}
}

// freed refuses a call on a stream that is closed.
func (s *Stream) freed(op string) *Error {
	return s.rt.misuse(op, "stream", "make another by NewStream", "the stream was freed")
}

// rests reports whether the stream has nothing to do. It does not wait to find out. unsure is the
// answer if the device does not know, as during a capture.
func (s *Stream) rests(unsure bool) bool {
	if !s.mu.TryLock() { // another goroutine waits for it
		return false
	}
	defer s.mu.Unlock()
	if s.gone {
		return true
	}
	idle, err := s.d.Idle()
	if err != nil {
		return unsure
	}
	return idle
}

func (s *Stream) launch(k device.Kernel, l device.Launch) error {
	s.rt.countIn()
	defer s.rt.countOut()
	s.mu.Lock() // not by issue: every operation comes here, and a closure would copy the launch
	defer s.mu.Unlock()
	if s.gone {
		return s.freed("Stream")
	}
	l.Overlap = l.Overlap && !s.rt.crowded.Load() // else the next kernel could take the processors of a kernel for which another rank waits
	return s.d.Launch(k, l)
}

func (s *Stream) copy(dst, src device.Ptr, n int) error {
	if n == 0 {
		return nil
	}
	return s.issue(func(d device.Stream) error { return d.Copy(dst, src, n) })
}

func (s *Stream) set0(dst device.Ptr, n int) error {
	if n == 0 {
		return nil
	}
	return s.issue(func(d device.Stream) error { return d.Set(dst, 0, n) })
}

// issue calls f with the device's stream, which no other goroutine uses meanwhile. It refuses a
// stream that was closed since the caller looked.
func (s *Stream) issue(f func(device.Stream) error) error {
	s.rt.countIn()
	defer s.rt.countOut()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return s.freed("Stream")
	}
	return f(s.d)
}

func (s *Stream) write(dst device.Ptr, src []byte) error {
	return s.issue(func(d device.Stream) error { return d.Write(dst, src) })
}

func (s *Stream) record(e device.Event) error {
	return s.issue(func(d device.Stream) error { return d.Record(e) })
}

func (s *Stream) wait(e device.Event) error {
	return s.issue(func(d device.Stream) error { return d.Wait(e) })
}

// scratch is n bytes of memory for one kernel of the stream at a time; 0 while a graph is captured,
// which may run on any stream and would share the memory with the kernels there. rt.mu is held.
func (s *Stream) scratch(op string, n int) device.Ptr {
	if s.rt.capture != nil {
		return 0
	}
	if s.space == nil {
		s.space = s.rt.take(op, s, n)
	}
	return s.space.Ptr
}

// idle reports whether the streams of a mask of ids have nothing to do. rt.mu is held.
func (rt *Runtime) idle(mask uint64) bool {
	for _, s := range rt.streams {
		if mask&s.bit() == 0 {
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

// OnStream calls f with s as the world's current stream. Work that other goroutines issue meanwhile
// goes to s, too. To issue a single operation on a stream, give the stream as an option.
func (rt *Runtime) OnStream(s *Stream, f func()) {
	const op = "OnStream"
	rt.hostCall(op)
	if s == nil || s.rt == nil {
		panic(rt.isNil(op, "stream"))
	}
	rt.needFunction(op, f)
	before := rt.become(op, s)
	defer func() {
		rt.mu.Lock()
		defer rt.mu.Unlock()
		rt.current = before
	}()
	f()
}

// become makes s current and returns the stream that was current before.
func (rt *Runtime) become(op string, s *Stream) (before *Stream) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	c := rt.ownCall(op)
	c.opts.stream = s
	c.PickStream()
	before, rt.current = rt.current, c.stream
	return before
}

// streamPart has the streams.
type streamPart struct{ part }

func (p streamPart) Close() error {
	p.rt.mu.Lock()
	defer p.rt.mu.Unlock()
	for _, s := range p.rt.streams {
		s.close()
	}
	p.rt.streams = nil
	return nil
}
