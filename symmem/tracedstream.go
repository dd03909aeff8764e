package symmem

import (
	"cmp"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

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

func (s *tracedStream) Write(dst device.Ptr, src []byte) error {
	return s.around(func() error { return s.Stream.Write(dst, src) })
}

func (s *tracedStream) Read(dst []byte, src device.Ptr) error {
	return s.around(func() error { return s.Stream.Read(dst, src) })
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
