package symmem

import (
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Synchronize waits for the stream's work and reports the first fault of it.
func (s *Stream) Synchronize() {
	const op = "Synchronize"
	s.exists(op)
	s.rt.hostCall(op)
	if s.closed.Load() {
		panic(s.freed(op))
	}
	defer s.rt.traceHost(op, nil, "")()
	s.rt.raise(op, s.synchronize())
}

func (s *Stream) synchronize() error {
	err := s.issue(func(d device.Stream) error { return d.Synchronize() })
	if err == nil && s.rt.posting.Load() {
		err = s.rt.flush()
	}
	return err
}

// Synchronize waits for all work of this rank, on all streams, and reports the first fault of it.
func (rt *Runtime) Synchronize() {
	rt.hostCall("Synchronize")
	defer rt.traceHost("Synchronize", nil, "")()
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
	if err := rt.flush(); err != nil && first == nil {
		first = err
	}
	return first
}

// raise panics with an error of a synchronisation, or with a wait on the device that was given up.
func (rt *Runtime) raise(op string, err error) {
	if err != nil {
		e := rt.failure(op, err)
		if refused := rt.takeFault(); refused != nil && e.Kind == KindFault && refused.Kind == KindMisuse {
			e.Hint = refused.Msg // and the kernel went on
		}
		panic(e)
	}
	if e := rt.takeFault(); e != nil {
		panic(e)
	}
}
