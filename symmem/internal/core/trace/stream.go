package trace

import (
	"cmp"
	"io"

	"github.com/symmrepl/symmrepl/internal/timeline"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// stream is a stream whose work is between the events of a trace. One goroutine uses it at a time.
type stream struct {
	device.Stream
	id        int
	t         *Trace
	capturing bool
}

// Stream returns a stream of the device as one that records its work in the trace.
func (t *Trace) Stream(s device.Stream, id int) device.Stream {
	return &stream{Stream: s, id: id, t: t}
}

// Untraced returns the device's own stream.
func Untraced(s device.Stream) device.Stream {
	if traced, ok := s.(*stream); ok {
		return traced.Stream
	}
	return s
}

// Launch launches a graph on a stream, which may be one of a trace.
func Launch(g device.Graph, s device.Stream) error {
	if traced, ok := s.(*stream); ok {
		return traced.around(func() error { return g.Launch(traced.Stream) })
	}
	return g.Launch(s)
}

// around issues work so that it is known to be of the call that issues it.
func (s *stream) around(issue func() error) error {
	o, first := s.t.opened(s)
	if o == nil {
		if s.t.recording != nil && !s.capturing {
			return s.t.recording.Issue(s.Stream, 0, issue)
		}
		return issue()
	}
	if s.t.recording != nil {
		return s.t.recording.Issue(s.Stream, uint64(o.Call), issue)
	}
	if first {
		if err := s.Stream.Record(o.begin); err != nil {
			return err
		}
	}
	err := issue()
	return cmp.Or(err, s.Stream.Record(o.end))
}

// copied is around for a copy from or to the host, which the host may make itself.
func (s *stream) copied(n int, issue func() error) error {
	begin := timeline.Now()
	err := s.around(issue)
	end := timeline.Now()
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	if o := s.t.current[s.id]; o != nil && o.Call > 0 {
		o.copied = &device.Activity{Kind: device.ActivityCopy, Begin: begin, End: end, Bytes: n}
	}
	return err
}

// opened returns the call that issues work on the stream now, nil if it is not traced, and whether
// this is its first work.
func (t *Trace) opened(s *stream) (o *operation, first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o = t.current[s.id]
	if o == nil || s.capturing || t.leavesOut() {
		return nil, false
	}
	if o.Call > 0 {
		return o, false
	}
	if !t.keep(o) {
		delete(t.current, s.id)
		return nil, false
	}
	if t.recording != nil {
		return o, true
	}
	begin, err := t.dev.NewEvent()
	if err != nil {
		return nil, false
	}
	end, err := t.dev.NewEvent()
	if err != nil {
		begin.Close()
		return nil, false
	}
	o.begin, o.end = begin, end
	return o, true
}

// awaits notes whose stores the words that a stream awaits need.
func (t *Trace) awaits(stream int, ops []device.Value) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.current[stream]
	if o == nil {
		return
	}
	for _, v := range ops {
		switch {
		case !v.Await:
		case v.From > 0 && v.From <= len(o.group):
			o.stores = append(o.stores, o.group[v.From-1])
		default:
			o.stores = append(o.stores, -1)
		}
	}
}

func (s *stream) Launch(k device.Kernel, l device.Launch) error {
	return s.around(func() error { return s.Stream.Launch(k, l) })
}

func (s *stream) Copy(dst, src device.Ptr, n int) error {
	return s.around(func() error { return s.Stream.Copy(dst, src, n) })
}

func (s *stream) CopyAll(copies []device.Copy) error {
	return s.around(func() error { return s.Stream.CopyAll(copies) })
}

func (s *stream) Values(ops []device.Value) error {
	s.t.awaits(s.id, ops)
	return s.around(func() error { return s.Stream.Values(ops) })
}

// Wait is work of its own where the device records it; an event before it would not say when the
// wait began.
func (s *stream) Wait(e device.Event) error {
	if s.t.recording == nil {
		return s.Stream.Wait(e)
	}
	return s.around(func() error { return s.Stream.Wait(e) })
}

func (s *stream) MatMul(m device.MatMul) error {
	return s.around(func() error { return s.Stream.MatMul(m) })
}

func (s *stream) Collective(c device.Communicator, d device.Collective) error {
	return s.around(func() error { return s.Stream.Collective(c, d) })
}

func (s *stream) OneSided(h device.Heap, o device.OneSided) error {
	return s.around(func() error { return s.Stream.OneSided(h, o) })
}

func (s *stream) Write(dst device.Ptr, src []byte) error {
	return s.copied(len(src), func() error { return s.Stream.Write(dst, src) })
}

func (s *stream) Read(dst []byte, src device.Ptr) error {
	return s.copied(len(dst), func() error { return s.Stream.Read(dst, src) })
}

func (s *stream) WriteFrom(dst device.Ptr, src io.ReaderAt, n int) error {
	return s.copied(n, func() error { return s.Stream.WriteFrom(dst, src, n) })
}

func (s *stream) ReadTo(dst io.WriterAt, src device.Ptr, n int) error {
	return s.copied(n, func() error { return s.Stream.ReadTo(dst, src, n) })
}

func (s *stream) Set(dst device.Ptr, value byte, n int) error {
	return s.around(func() error { return s.Stream.Set(dst, value, n) })
}

func (s *stream) SetWords(dst device.Ptr, value uint32, n int) error {
	return s.around(func() error { return s.Stream.SetWords(dst, value, n) })
}

func (s *stream) BeginCapture() error {
	s.capturing = true
	return s.Stream.BeginCapture()
}

func (s *stream) EndCapture() (device.Graph, error) {
	s.capturing = false
	return s.Stream.EndCapture()
}
